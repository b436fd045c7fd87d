// Package program is the frame of the example programs: their flags, their exit codes, and the destinations
// of their output.
package program

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/botctx/go-sdk/boterr"
)

// Program is a command.
type Program struct {
	// Name is the prefix of its errors. Usage is the help before its flags.
	Name, Usage string
	// Flags declares the program's flags; nil means none.
	Flags func(flags *flag.FlagSet)
	// Check refuses flags that would be ignored; nil checks nothing. Arguments are already refused.
	Check func(flags *flag.FlagSet) error
	// Do does the program's work.
	Do func() error
}

// Run runs the program, and prints errors to problems. It returns the exit code: 1 if Do failed, 2 if the
// flags are wrong.
func (p Program) Run(args []string, problems io.Writer) int {
	err := p.parse(args, problems)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	const wrongFlags = 2
	if err != nil {
		return wrongFlags
	}
	if err := p.Do(); err != nil {
		p.tell(problems, err)
		return 1
	}
	return 0
}

// parse parses the flags, and refuses arguments. It prints their errors, and the help.
func (p Program) parse(args []string, problems io.Writer) error {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() {
		_, _ = io.WriteString(problems, p.Usage)
		flags.PrintDefaults()
	}
	if p.Flags != nil {
		p.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if flags.NArg() > 0 {
		err = fmt.Errorf("%q is not a flag, and the command has no arguments", flags.Arg(0))
	} else if p.Check != nil {
		err = p.Check(flags)
	}
	if err != nil {
		p.tell(problems, err)
	}
	return err
}

// tell prints an error. It ignores a failed write.
func (p Program) tell(problems io.Writer, err error) {
	_, _ = fmt.Fprintf(problems, "%s: %s\n", p.Name, boterr.Visible(err.Error()))
}
