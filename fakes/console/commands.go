package console

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/session"
	"github.com/botctx/go-sdk/member"
)

// command is a command on a line that begins with /.
type command struct {
	// argument describes the argument, or "" if there is none. Brackets make it optional.
	argument, help string
	do             func(s *talk, argument string) error
	// choices returns the possible arguments, or nil if they are not known.
	choices func(s *talk) []string
}

func commands() map[string]command {
	return map[string]command{
		"as":      {"NAME", "speak as a member; a new name adds one", (*talk).speakAs, (*talk).memberNames},
		"tap":     {"[NUMBER or TITLE]", "tap a button, also of an older message; alone it lists them", (*talk).tapAny, (*talk).titles},
		"say":     {"TEXT", "send a text that looks like a choice or a command", (*talk).sayAsItIs, nil},
		"advance": {"TIME", "let time pass, such as 24h, 2d or 1h30m; due agendas run", (*talk).advance, nil},
		"agent":   {"[NAME]", "speak as an agent, and list the open tickets", (*talk).sitAsAgent, (*talk).agentNames},
		"take":    {"[NUMBER]", "as an agent, take a ticket; alone, the newest one", (*talk).take, nil},
		"end":     {"", "as an agent, end the live chat", (*talk).end, nil},
		"data":    {"[SOURCE]", "list the data sources, or the entries of one", (*talk).data, (*talk).sources},
		"state":   {"", "show the member, the position, agendas and requests for a person", (*talk).state, nil},
		"why":     {"", "show what answered the last event and why, or why each node did not", (*talk).why, nil},
		"save":    {"FILE", "save the conversation as a Go test, or as a conversation if FILE ends in .chat", (*talk).save, nil},
		"help":    {"", "list the commands", (*talk).help, nil},
		"quit":    {"", "end the conversation, like Ctrl-D and Ctrl-C", (*talk).quit, nil},
	}
}

func (s *talk) obey(line string) {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	if s.isEchoing {
		s.screen.block("", plain, "/"+line, plain)
	}
	if err := session.Guarded(func() error { return s.run(strings.ToLower(name), argument) }); err != nil {
		s.fail(err)
	}
}

func (s *talk) run(name, argument string) error {
	all := commands()
	found, isKnown := all[name]
	switch {
	case !isKnown:
		return unknown(name, slices.Sorted(maps.Keys(all)))
	case argument == "" && found.argument != "" && !strings.HasPrefix(found.argument, "["):
		return fmt.Errorf("/%s needs %s: %s", name, found.argument, found.help)
	case argument != "" && found.argument == "":
		return fmt.Errorf("/%s takes no argument: %s", name, found.help)
	default:
		return found.do(s, argument)
	}
}

func unknown(name string, among []string) error {
	hint := "/help lists the commands"
	if near := nearest.To(name, among); near != "" {
		hint = "did you mean /" + near + "?"
	}
	return fmt.Errorf("there is no command /%s: //%s sends it to the bot; %s", name, name, hint)
}

func (s *talk) help(string) error {
	all := commands()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		usage := strings.TrimRight("/"+name+" "+all[name].argument, " ")
		s.screen.block(fmt.Sprintf("   %-24s ", usage), ofNote, all[name].help, plain)
	}
	s.screen.notef("The number or the title of a choice in the last answer taps it. Anything else is sent to the bot.")
	return nil
}

func (s *talk) quit(string) error {
	s.isOver = true
	return nil
}

// speakAs makes a member the speaker, adding the member if the name is new.
func (s *talk) speakAs(name string) error {
	found := s.find(name, (*session.Person).IsMember)
	if found == nil && s.find(name, (*session.Person).IsAgent) != nil {
		return fmt.Errorf("%s is an agent: /agent %s speaks as one", name, name)
	}
	if found == nil {
		like := s.People()[0]
		if s.seat.IsMember() {
			like = s.seat
		}
		added, err := s.add(name, conversation.AddMember{Name: name, Member: member.Member{FirstName: name, Channel: like.Actor.Added().Channel}})
		if err != nil {
			return err
		}
		found = added
		s.screen.notef("%s joins as a new member.", name)
	}
	s.seat = found
	return nil
}

// sayAsItIs says a text without interpreting it.
func (s *talk) sayAsItIs(text string) error {
	s.say(text)
	return nil
}

// tapAny taps a button or quick reply of any message by number or title. Without an argument it lists them.
func (s *talk) tapAny(argument string) error {
	if err := s.onlyMembers(); err != nil {
		return err
	}
	offers := s.seat.Actor.Tappables()
	if len(offers) == 0 {
		return fmt.Errorf("%s sees nothing to tap", s.seat.Name)
	}
	if argument == "" {
		for i, one := range offers {
			s.screen.notef("%d [%s]", i+1, one.Title)
		}
		return nil
	}
	i := chosen(argument, offers)
	if i < 0 {
		return fmt.Errorf("there is no choice with the number or title %q: /tap lists all", argument)
	}
	s.tap(offers[i])
	return nil
}

// complete returns the possible completions of a line.
func (s *talk) complete(line string) []string {
	typed, isCommand := strings.CutPrefix(line, "/")
	if !isCommand {
		return beginning("", line, titlesOf(s.offers[s.seat.ID]))
	}
	all := commands()
	name, argument, hasArgument := strings.Cut(typed, " ")
	if !hasArgument {
		return beginning("/", typed, slices.Sorted(maps.Keys(all)))
	}
	if choices := all[name].choices; choices != nil {
		return beginning("/"+name+" ", argument, choices(s))
	}
	return nil
}

// beginning returns the texts that begin with the typed text, in upper or lower case, and puts a prefix before each.
// Texts that could control a terminal are omitted.
func beginning(prefix, typed string, among []string) []string {
	var found []string
	for _, one := range among {
		isSafe := one == oneLine(one) // The line editor does not escape it.
		if isSafe && len(one) >= len(typed) && strings.EqualFold(one[:len(typed)], typed) {
			found = append(found, prefix+one)
		}
	}
	return found
}

// programFolder returns the folder of the program's own package, relative to the working directory, if the
// two are in the same module: go run ./bot runs a bot whose files are in ./bot. Otherwise it is "".
func programFolder() string {
	info, isKnown := debug.ReadBuildInfo()
	if !isKnown {
		return ""
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	return packageFolder(info, here)
}

// packageFolder returns the result of programFolder for a program with this build info that runs in the folder
// here.
func packageFolder(info *debug.BuildInfo, here string) string {
	below, isInModule := strings.CutPrefix(info.Path+"/", info.Main.Path+"/")
	root := moduleFolder(here, info.Main.Path)
	if !isInModule || root == "" {
		return ""
	}
	folder, err := filepath.Rel(here, filepath.Join(root, filepath.FromSlash(below)))
	if err != nil {
		return ""
	}
	if found, err := os.Stat(filepath.Join(here, folder)); err != nil || !found.IsDir() {
		return ""
	}
	return folder
}

// moduleFolder returns the root folder of the module that contains folder, or "" if the module's path differs
// from path.
func moduleFolder(folder, path string) string {
	for {
		file, err := os.ReadFile(filepath.Join(folder, "go.mod")) //nolint:gosec // The folders are those above the user's own.
		if err == nil {
			for line := range strings.Lines(string(file)) {
				if words := strings.Fields(line); len(words) > 1 && words[0] == "module" && strings.Trim(words[1], "\"`") == path {
					return folder
				}
			}
			return ""
		}
		if above := filepath.Dir(folder); above != folder {
			folder = above
			continue
		}
		return ""
	}
}

type declared struct {
	pkg   string
	names map[string]bool
}

// declaredIn reads the Go files of a folder. If pkg is "", it uses the package of the files there, or "main"
// if there are none. The packages of external tests do not count.
func declaredIn(folder, pkg string) declared {
	files, _ := os.ReadDir(folder) // A missing folder has no files.
	isTest := func(file fs.DirEntry) int { return strings.Count(file.Name(), "_test.go") }
	slices.SortStableFunc(files, func(a, b fs.DirEntry) int { return isTest(a) - isTest(b) }) // Tests come last: their package may differ.
	found := declared{pkg: pkg, names: map[string]bool{}}
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file.Name()), nil, parser.SkipObjectResolution)
		if err != nil && (parsed == nil || parsed.Name == nil) {
			continue
		}
		if found.pkg = cmp.Or(found.pkg, parsed.Name.Name); found.pkg == parsed.Name.Name {
			found.add(parsed)
		}
	}
	found.pkg = cmp.Or(found.pkg, "main")
	return found
}

func (d declared) add(file *ast.File) {
	for _, one := range file.Decls {
		switch one := one.(type) {
		case *ast.FuncDecl:
			if one.Recv == nil {
				d.names[one.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range one.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d.names[name.Name] = true
					}
				case *ast.TypeSpec:
					d.names[spec.Name.Name] = true
				}
			}
		}
	}
}

// free returns an unused name: the given one, with a number appended if necessary.
func (d declared) free(name string) string {
	free := name
	for i := 2; d.names[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	return free
}

// missing returns the functions that Go expressions call and the package does not declare.
func (d declared) missing(expressions ...string) []string {
	var missing []string
	for _, text := range expressions {
		parsed, err := parser.ParseExpr(text)
		if err != nil {
			continue // The Go compiler reports the error.
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if call, isCall := node.(*ast.CallExpr); isCall {
				if of, isName := call.Fun.(*ast.Ident); isName && !d.names[of.Name] {
					missing = append(missing, of.Name)
				}
			}
			return true
		})
	}
	return missing
}

// sitAsAgent makes the named agent the speaker, or the first one if name is empty.
func (s *talk) sitAsAgent(name string) error {
	agent, err := s.agentNamed(name)
	if err != nil {
		return err
	}
	s.seat = agent
	s.screen.notef("You are %s, an agent at %s. /take takes a ticket, /end ends the live chat, /as NAME goes back.",
		agent.Name, agent.Agent.Channel())
	s.printTickets()
	return nil
}

// agentNamed returns the agent of a name, adding the agent if the desk is the console's own.
func (s *talk) agentNamed(name string) (*session.Person, error) {
	for _, p := range s.People() {
		if p.IsAgent() && (name == "" || strings.EqualFold(p.Name, name)) {
			return p, nil
		}
	}
	if !s.IsOwn() {
		return nil, fmt.Errorf("there is no agent%s: add one to the Agents of the Console", strings.TrimRight(" "+name, " "))
	}
	name = cmp.Or(name, session.Agent)
	return s.add(name, conversation.AddAgent{Name: name, Channel: session.Desk})
}

// openTickets returns the tickets that the agent can take, and their indexes among all of the agent's tickets.
func openTickets(agent *fakes.Agent) (tickets []fakes.Ticket, places []int) {
	for i, ticket := range agent.Tickets() {
		if ticket.IsOpen() {
			tickets, places = append(tickets, ticket), append(places, i)
		}
	}
	return tickets, places
}

// printTickets lists the tickets that are open, with their numbers.
func (s *talk) printTickets() {
	tickets, _ := openTickets(s.seat.Agent)
	if len(tickets) == 0 {
		s.screen.notef("There are no open tickets.")
	}
	for i, ticket := range tickets {
		s.screen.notef("%d  %s", i+1, ticket.Text())
	}
}

// take takes the ticket with this number, or the newest one if number is empty.
func (s *talk) take(number string) error {
	if err := s.onlyAgents(); err != nil {
		return err
	}
	taken := conversation.Takes{By: s.seat.Name}
	if _, places := openTickets(s.seat.Agent); number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(places) {
			return fmt.Errorf("%q is not a ticket: /agent lists the %d open ones", number, len(places))
		}
		taken.Ticket = places[n-1] + 1
	}
	s.act(taken)
	return nil
}

func (s *talk) end(string) error {
	if err := s.onlyAgents(); err != nil {
		return err
	}
	s.act(conversation.Ends{By: s.seat.Name})
	return nil
}

// save writes the conversation as a Go test, or as a conversation file if the file's name has its extension.
func (s *talk) save(file string) error {
	if reason := s.console.CannotSave; reason != "" {
		return fmt.Errorf("the conversation cannot be saved: %s", reason)
	}
	if filepath.Base(file) == file {
		file = filepath.Join(programFolder(), file)
	}
	if filepath.Ext(file) == conversation.Extension {
		return s.saveConversation(file)
	}
	path := testFile(file)
	beside := declaredIn(filepath.Dir(path), s.console.Test.Package)
	as := s.Test()
	as.Package, as.Name = beside.pkg, beside.free(conversation.TestName(path))
	source, err := s.Stage.GoTest(as)
	if err != nil {
		return err
	}
	if !isRun(path, source) {
		return fmt.Errorf("go test ignores a file with the name %s: give one that does not begin with _ or a dot, or end "+
			"with the name of another system", filepath.Base(path))
	}
	if ext := filepath.Ext(file); ext != "" && ext != ".go" {
		return fmt.Errorf("%s is neither a Go test nor a conversation: end the name with .go or %s", file, conversation.Extension)
	}
	if err := writeNew(path, source); err != nil {
		return err
	}
	if missing := beside.missing(as.Platform, as.Nodes); len(missing) > 0 {
		s.screen.notef("Saved in %s. It calls %s, which package %s in that folder does not have: "+
			"move the file to the folder of the bot, or add that.",
			path, strings.Join(missing, " and "), as.Package)
		return nil
	}
	s.screen.notef("Saved in %s: go test runs it.", path)
	return nil
}

// saveConversation writes the conversation as a file for conversation.Run.
func (s *talk) saveConversation(path string) error {
	if err := writeNew(path, s.Stage.Conversation().String()); err != nil {
		return err
	}
	s.screen.notef("Saved in %s. conversation.Run runs it.", path)
	return nil
}

// testFile returns the file name of a test: go test only runs files that end in _test.go.
func testFile(name string) string {
	name = strings.TrimSuffix(name, ".go")
	if !strings.HasSuffix(name, "_test") {
		name += "_test"
	}
	return name + ".go"
}

// isRun reports whether go test runs a file on this system.
func isRun(path, source string) bool {
	system := build.Default
	system.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(source)), nil }
	isMatch, err := system.MatchFile(filepath.Split(path))
	return err == nil && isMatch
}

// writeNew writes a new file. It fails if the file exists.
func writeNew(path, text string) (err error) {
	//nolint:gosec // The user names the path; all may read the file.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s already exists: give another name", path)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(text)
	return err
}
