const HINTS: Readonly<Record<string, string>> = {
  "mount ELOOP": "The mount point is a symbolic link, which is refused.",
  "folder ELOOP": "A folder of the root is a symbolic link: a layer that turns it into one is refused.",
  "bind ELOOP": "A mount point of the root is a symbolic link: a layer that turns it into one is refused.",
  "mount ENOENT": "The mount point, or a layer that the options name, does not exist.",
  "mount EINVAL": "The filesystem does not take these options; the last lines of dmesg name the option.",
  "mount EPERM":
    "A fresh proc or sysfs needs the host's own to be whole: an outer container that masks parts of it forbids this.",
  "layer EINVAL":
    "The filesystem of this layer cannot be id-mapped (overlay cannot): use the compat profile.",
  "clone EBUSY": "The cgroup enables controllers for its children, so it cannot hold processes itself.",
  "clone ENOSPC": "A limit of /proc/sys/user on namespaces is reached: end sessions, or raise it.",
  "net-namespace ENOSPC": "/proc/sys/user/max_net_namespaces is reached: end sessions, or raise it.",
  "clone ENOENT": "The cgroup was removed.",
  "clone ENODEV": "The cgroup was removed.",
  "exec ENOENT":
    "The file, or the interpreter it names, is missing there. A session needs a layer that holds drums-init.",
  "exec EACCES": "The file is not executable, or its folder is not open to the user.",
  "pid-max EXDEV":
    "This kernel has one pid_max for all pid namespaces; the host's was put back. Linux 6.14 has one for each.",
  "merge EINVAL": "This kernel has no same-page merging (CONFIG_KSM), or is older than Linux 6.4.",
  "enter ESRCH": "The session has ended.",
};

/** What to do about a failed step of drums-init, where more is known than the errno says. */
export function hintForStep(step: string, code: string): string | undefined {
  return HINTS[`${step} ${code}`];
}
