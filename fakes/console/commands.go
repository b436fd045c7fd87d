package console

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
	"github.com/botctx/go-sdk/member"
)

// command is a command on a line that begins with /.
type command struct {
	// argument describes the argument, "" if there is none. Brackets make it optional.
	argument, help string
	do             func(s *session, argument string) error
	// choices returns the possible arguments, nil if they are not known.
	choices func(s *session) []string
}

func commands() map[string]command {
	return map[string]command{
		"as":      {"NAME", "speak as a member, a new one if there is none of the name", (*session).speakAs, (*session).memberNames},
		"tap":     {"[NUMBER or TITLE]", "tap a button, of older messages too; alone it lists them", (*session).tapAny, (*session).titles},
		"say":     {"TEXT", "say a text that would be taken for a choice or a command", (*session).sayAsItIs, nil},
		"advance": {"TIME", "let time pass, as in 24h, 2d or 1h30m: what falls due runs", (*session).advance, nil},
		"agent":   {"[NAME]", "sit as an agent, and list the open tickets", (*session).sitAsAgent, (*session).agentNames},
		"take":    {"[NUMBER]", "as an agent, take a ticket: the newest one", (*session).take, nil},
		"end":     {"", "as an agent, end the live chat", (*session).end, nil},
		"data":    {"[SOURCE]", "list the data sources, or what is in one", (*session).data, (*session).sources},
		"state":   {"", "the member, the position, agendas, requests for a person", (*session).state, nil},
		"why":     {"", "what answered the last event and why, or what each node refused", (*session).why, nil},
		"save":    {"FILE", "write the conversation as a Go test, or in a file that ends in .chat as one", (*session).save, nil},
		"help":    {"", "list the commands", (*session).help, nil},
		"quit":    {"", "end, as Ctrl-D and Ctrl-C do", (*session).quit, nil},
	}
}

// obey does what a command says.
func (s *session) obey(line string) {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	if s.isEchoing {
		s.screen.block("", plain, "/"+line, plain)
	}
	if err := guarded(func() error { return s.run(strings.ToLower(name), argument) }); err != nil {
		s.fail(err)
	}
}

func (s *session) run(name, argument string) error {
	all := commands()
	found, isKnown := all[name]
	switch {
	case !isKnown:
		return unknown(name, slices.Sorted(maps.Keys(all)))
	case argument == "" && found.argument != "" && !strings.HasPrefix(found.argument, "["):
		return fmt.Errorf("/%s needs %s: %s", name, found.argument, found.help)
	case argument != "" && found.argument == "":
		return fmt.Errorf("/%s takes nothing behind it: %s", name, found.help)
	default:
		return found.do(s, argument)
	}
}

// unknown is the error for a command that is none.
func unknown(name string, among []string) error {
	hint := "/help lists the commands"
	if near := nearest.To(name, among); near != "" {
		hint = "did you mean /" + near + "?"
	}
	return fmt.Errorf("there is no command /%s: //%s says it to the bot; %s", name, name, hint)
}

func (s *session) help(string) error {
	all := commands()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		usage := strings.TrimRight("/"+name+" "+all[name].argument, " ")
		s.screen.block(fmt.Sprintf("   %-24s ", usage), ofNote, all[name].help, plain)
	}
	s.screen.notef("All else is said to the bot, but for the number or the title of what the last answer offers.")
	return nil
}

func (s *session) quit(string) error {
	s.isOver = true
	return nil
}

// speakAs lets a member speak, who is made if there is none of the name.
func (s *session) speakAs(name string) error {
	found := s.find(name, isMember)
	if found == nil && s.find(name, isAgent) != nil {
		return fmt.Errorf("%s is an agent: /agent %s speaks as one", name, name)
	}
	if found == nil {
		channel := s.people[0].actor.Added().Channel
		if s.seat.actor != nil {
			channel = s.seat.actor.Added().Channel
		}
		found = s.addActor(s.platform.AddMember(member.Member{FirstName: name, Channel: channel}))
		s.screen.notef("%s is new here.", name)
	}
	s.seat = found
	return nil
}

// sayAsItIs says a text whatever it looks like.
func (s *session) sayAsItIs(text string) error {
	s.say(text)
	return nil
}

// tapAny taps what any message has to tap, or lists that.
func (s *session) tapAny(argument string) error {
	if err := s.onlyMembers(); err != nil {
		return err
	}
	offers := s.seat.actor.Tappables()
	if len(offers) == 0 {
		return fmt.Errorf("%s is shown nothing that can be tapped", s.seat.name)
	}
	if argument == "" {
		for i, one := range offers {
			s.screen.notef("%s", numbered(i+1, one.Title))
		}
		return nil
	}
	i := chosen(argument, offers)
	if i < 0 {
		return fmt.Errorf("there is nothing of the number or the title %q to tap: /tap lists what there is", argument)
	}
	s.tap(offers[i])
	return nil
}

// complete returns what a line may go on as.
func (s *session) complete(line string) []string {
	typed, isCommand := strings.CutPrefix(line, "/")
	if !isCommand {
		return beginning("", line, titlesOf(s.seat.offers))
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

// beginning returns the texts that begin with the typed one, in upper or lower case, after a prefix. Texts
// that would control a terminal are left out.
func beginning(prefix, typed string, among []string) []string {
	var found []string
	for _, one := range among {
		isSafe := one == oneLine(one) // An editor of lines writes it as it is.
		if isSafe && len(one) >= len(typed) && strings.EqualFold(one[:len(typed)], typed) {
			found = append(found, prefix+one)
		}
	}
	return found
}

// programFolder returns the folder of the program's own package, as seen from the working directory, if that is in the
// program's module: go run ./bot runs a bot whose files are in ./bot. Otherwise it is "".
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

// packageFolder is programFolder for a program that was built so and runs in a folder.
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

// moduleFolder returns the folder of the module that a folder is in, "" if that is not the module of this path.
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

// declaredIn reads the Go files of a folder. If pkg is "", the package is the one of the files there, and "main" if there
// are none. Tests in a package of their own do not decide.
func declaredIn(folder, pkg string) declared {
	files, _ := os.ReadDir(folder) // A folder that is not there has none.
	isTest := func(file fs.DirEntry) int { return strings.Count(file.Name(), "_test.go") }
	slices.SortStableFunc(files, func(a, b fs.DirEntry) int { return isTest(a) - isTest(b) }) // These may have a package of their own.
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

// free returns a name that nothing has yet: the given one, with a number behind it if need be.
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

// deskID is the id of the channel of the console's own desk.
const deskID = "desk"

// sitAsAgent lets the agent of a name speak, the first one without any.
func (s *session) sitAsAgent(name string) error {
	agent, err := s.agentNamed(name)
	if err != nil {
		return err
	}
	s.seat = agent
	s.screen.notef("%s sits at %s. /take takes a ticket, /end ends the live chat, /as NAME goes back.", agent.name, agent.agent.Channel())
	s.printTickets()
	return nil
}

// agentNamed returns the agent of a name, who is made at the console's own desk.
func (s *session) agentNamed(name string) (*person, error) {
	for _, p := range s.people {
		if isAgent(p) && name == "" {
			return p, nil
		}
	}
	if found := s.find(name, isAgent); found != nil {
		return found, nil
	}
	if !s.hasDesk {
		return nil, fmt.Errorf("there is no agent%s: give the Console its Agents", strings.TrimRight(" "+name, " "))
	}
	return s.addAgent(s.platform.AddAgent(deskID, nameOr(name, "Grace"))), nil
}

// nameOr returns a name, and another one where there is none.
func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// openTickets returns the tickets that the agent can take, and their places among all.
func openTickets(agent *fakes.Agent) (tickets []fakes.Ticket, places []int) {
	for i, ticket := range agent.Tickets() {
		if ticket.IsOpen() && ticket.Assignment != "" {
			tickets, places = append(tickets, ticket), append(places, i)
		}
	}
	return tickets, places
}

// printTickets lists the tickets that are open, with their numbers.
func (s *session) printTickets() {
	tickets, _ := openTickets(s.seat.agent)
	if len(tickets) == 0 {
		s.screen.notef("There is no open ticket.")
	}
	for i, ticket := range tickets {
		s.screen.notef("%d  %s", i+1, ticket.Text())
	}
}

// take takes the ticket of a number, the newest one without any.
func (s *session) take(number string) error {
	if err := s.onlyAgents(); err != nil {
		return err
	}
	agent := s.seat.agent
	tickets, places := openTickets(agent)
	if len(tickets) == 0 {
		return errors.New("there is no open ticket: a bot asks for a person by createAssignment")
	}
	i := len(tickets) - 1
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(tickets) {
			return fmt.Errorf("%q is no ticket: give a number from 1 to %d", number, len(tickets))
		}
		i = n - 1
	}
	s.act(conversation.Takes{By: s.seat.name, Ticket: places[i] + 1})
	return nil
}

// end ends the agent's live chat.
func (s *session) end(string) error {
	if err := s.onlyAgents(); err != nil {
		return err
	}
	s.act(conversation.Ends{By: s.seat.name})
	return nil
}
