# fish completion for i-insist

complete -c i-insist -f
complete -c i-insist -n __fish_use_subcommand -a install -d 'register the hooks of a client'
complete -c i-insist -n __fish_use_subcommand -a uninstall -d 'remove our hooks from a client'
complete -c i-insist -n __fish_use_subcommand -a ensure -d 'register the hooks of every client found'
complete -c i-insist -n __fish_use_subcommand -a status -d 'show what is registered where'
complete -c i-insist -n __fish_use_subcommand -a hook -d 'answer a client'
complete -c i-insist -n __fish_use_subcommand -a protect-config -d 'the checker that protects configuration'
complete -c i-insist -n __fish_use_subcommand -a check -d 'decide about a command, or an event on stdin'
complete -c i-insist -n __fish_use_subcommand -a validate -d 'check rule files and run their tests'
complete -c i-insist -n __fish_use_subcommand -a steer -d 'the same in the spelling of steer'
complete -c i-insist -n __fish_use_subcommand -a help -d 'show a page of the manual'
complete -c i-insist -n __fish_use_subcommand -l version -d 'print the version'
complete -c i-insist -n '__fish_seen_subcommand_from install uninstall' -a 'claude codex'
complete -c i-insist -n '__fish_seen_subcommand_from install uninstall' -l dry-run -d 'print the change only'
complete -c i-insist -n '__fish_seen_subcommand_from hook' -l harness -x -a 'claude codex'
complete -c i-insist -n '__fish_seen_subcommand_from hook' -a 'pre-tool-use post-tool-use post-tool-use-failure pre-skill-shell-command user-prompt-submit session-start stop config-change'
complete -c i-insist -n '__fish_seen_subcommand_from validate' -F
complete -c i-insist -n '__fish_seen_subcommand_from help' -a 'event harness discovery rules shell matching checker decision approval install protect audit commands'
complete -c i-insist -n '__fish_seen_subcommand_from steer' -a 'hook check validate init'
