//go:build unix

package pgserver

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// runAsOther makes a command run as another user, in that user's folder, if the current user is root: the server
// refuses to run as root.
func runAsOther(command *exec.Cmd, folder string) error {
	if os.Getuid() != 0 {
		return nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		if other, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return err
	}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	command.Dir = folder
	return os.Chown(folder, int(uid), int(gid))
}
