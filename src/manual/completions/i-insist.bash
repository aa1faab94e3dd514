# bash completion for i-insist

_i_insist() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} choices=
    if [ "$COMP_CWORD" -eq 1 ]; then
        choices='install uninstall ensure status check validate init trust untrust protect-config hook steer help --version'
    else
        case $command in
            install | uninstall) choices='claude codex pi --dry-run' ;;
            init) choices=--project ;;
            check) choices='--json --batch' ;;
            steer) [ "$COMP_CWORD" -eq 2 ] && choices='hook check validate init' ;;
            hook)
                case ${COMP_WORDS[COMP_CWORD - 1]} in
                    hook) choices=--harness ;;
                    --harness) choices='claude codex pi' ;;
                    *) choices='pre-tool-use post-tool-use post-tool-use-failure pre-skill-shell-command
                        user-prompt-submit session-start stop config-change' ;;
                esac ;;
            help) choices='event harness discovery rules shell matching checker decision approval finish install protect
                audit commands' ;;
        esac
    fi
    # shellcheck disable=SC2207 # the choices hold no blanks
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
}

complete -o bashdefault -o default -F _i_insist i-insist
