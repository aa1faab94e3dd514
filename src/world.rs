//! What the process was given: its environment, read once at the start.
//!
//! Promises: every directory is absolute. Never: asks the password database, or reads the
//! environment again later.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The directory of the machine's policy; fixed when the program is built.
pub(crate) const SYSTEM_CONFIGURATION: &str = match option_env!("I_INSIST_SYSCONFDIR") {
    Some(directory) => directory,
    None => "/etc",
};

/// The surroundings of one run, as plain data.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// The person's home directory: `HOME`, absolute.
    pub(crate) home: PathBuf,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    pub(crate) config_home: PathBuf,
    /// Our cache: `XDG_CACHE_HOME`, or `~/.cache`, and our name.
    pub(crate) cache: PathBuf,
    /// Our state: `XDG_STATE_HOME`, or `~/.local/state`, and our name.
    pub(crate) state: PathBuf,
    /// `PATH`, for look-ups of programs.
    pub(crate) path: OsString,
    /// The directory the process was started in.
    pub(crate) current_directory: PathBuf,
    /// The running binary, as far as the system tells.
    pub(crate) program: Option<PathBuf>,
}

/// `HOME` cannot be used: unset, or not absolute. Everything is looked up below it, so this blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoHome;

impl std::fmt::Display for NoHome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(
            "configuration: HOME is unset or not an absolute path; set it to your home directory",
        )
    }
}

impl World {
    /// Reads the environment.
    ///
    /// # Errors
    /// When `HOME` is unset or not absolute.
    pub(crate) fn from_environment() -> Result<Self, NoHome> {
        let home = absolute("HOME").ok_or(NoHome)?;
        let below_home = |variable: &str, default: &str| {
            absolute(variable).unwrap_or_else(|| home.join(default))
        };
        Ok(Self {
            config_home: below_home("XDG_CONFIG_HOME", ".config"),
            cache: below_home("XDG_CACHE_HOME", ".cache").join("i-insist"),
            state: below_home("XDG_STATE_HOME", ".local/state").join("i-insist"),
            path: env::var_os("PATH").unwrap_or_default(),
            current_directory: env::current_dir().unwrap_or_else(|_| home.clone()),
            program: env::current_exe().ok(),
            home,
        })
    }

    /// The directories that hold guard files for everything this person does, strongest first.
    pub(crate) fn guard_directories(&self) -> [PathBuf; 2] {
        [Path::new(SYSTEM_CONFIGURATION).join("i-insist"), self.home.join(".i-insist")]
    }
}

/// A variable that names an absolute directory; the XDG rules have relative ones ignored.
pub(crate) fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
