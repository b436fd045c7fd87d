// Command figures prints the size of the project and the number of functions that a call enters. Run it in
// internal/dev: go run ./figures. With -list, it also lists the functions behind the figures.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	root := flag.String("root", "../..", "the folder of the checkout")
	isListed := flag.Bool("list", false, "list the functions, too")
	flag.Parse()
	c, err := readCheckout(*root)
	if err == nil {
		err = c.enter(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
	text := c.table()
	if *isListed {
		text += c.lists()
	}
	_, _ = fmt.Fprint(os.Stdout, text)
}

// table returns the figures and the notes.
func (c *checkout) table() string {
	files, lines := sizeOf(c.files, func(f file) bool { return !f.isTest() })
	testFiles, testLines := sizeOf(c.files, file.isTest)
	packages, names, methods := c.exported()
	passing, all := c.passing()
	both := func(a, b int) string { return fmt.Sprintf("%d / %d", a, b) }
	functions := func(call string) string { return both(len(c.entered[call]), filesOf(c.entered[call])) }
	var table strings.Builder
	table.WriteString("| figure | now |\n|---|---|\n")
	for _, row := range [][2]string{
		{"folders at the top level", strconv.Itoa(c.folders)},
		{"modules", strconv.Itoa(c.modules)},
		{"Go files / files of tests", both(files, testFiles)},
		{"exported names / with methods", both(names, names+methods)},
		{"public packages", strconv.Itoa(packages)},
		{"lines of code / of tests", both(lines, testLines)},
		{"functions that pass on only / with methods that an interface may need", both(len(passing), all)},
		{"functions entered by one SendResponse over fakes / their files", functions(callSend)},
		{"functions entered from a webhook over sqlite to the answer / their files", functions(callWebhook)},
		{"functions entered by one GetMember over fakes / their files", functions(callRead)},
		{"functions on the stack from GetMember to the store", strconv.Itoa(len(c.entered[callWay]))},
	} {
		fmt.Fprintf(&table, "| %s | %s |\n", row[0], row[1])
	}
	return table.String() + notes
}

// notes explain how the figures are counted.
const notes = `
Files and lines are those of all modules, generated ones included. Public packages are under no internal/, no programs,
and neither examples nor guides; their names are types, functions, constants and variables, and then also the methods of
exported types. A function passes on only if its body is one call, or the return of one, of its parameters, its receiver,
fields of these and literals; generated files are left out. A call enters a function if it runs a statement of it or of a
literal in it. The call is the second of its kind, and what ran before it is left out; the webhook's message is from a new
member, and what goroutines do beside it may differ by a few.
`

// lists returns the names of the functions behind the figures.
func (c *checkout) lists() string {
	passing, _ := c.passing()
	var lists strings.Builder
	for _, list := range []struct {
		heading   string
		functions []string
	}{
		{"Pass on only", passing},
		{"Entered by SendResponse", c.entered[callSend]},
		{"Entered from a webhook", c.entered[callWebhook]},
		{"Entered by GetMember", c.entered[callRead]},
		{"On the stack from GetMember to the store", c.entered[callWay]},
	} {
		fmt.Fprintf(&lists, "\n%s:\n  %s\n", list.heading, strings.Join(list.functions, "\n  "))
	}
	return lists.String()
}
