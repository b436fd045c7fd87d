package botctx_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/rounds"
)

func isOpen(*botctx.Context) bool { return true }

// shop returns nodes in two trees, with an edge of each kind.
func shop() []*botctx.Node {
	return []*botctx.Node{
		{ID: "order", Trigger: botctx.TextIs("order"), Global: botctx.GlobalInTree, SavesPosition: true, Schedules: botctx.Nodes("reminder")},
		{ID: "tea", Parent: "order", Trigger: botctx.When(isOpen), Priority: 5, Redirect: botctx.ToOneOf(toMenu, "menu", "order", "menu")},
		{ID: "menu", Redirect: botctx.To("menu")},
		{ID: "reminder", Tree: "later", Redirect: botctx.RedirectFunc(toMenu)},
		{ID: "paid", Entry: true, Redirect: botctx.Redirect{NodeCompositeID: "stars?", TreeID: "survey"}.Always()},
	}
}

func graphOf(t *testing.T, nodes []*botctx.Node) botctx.Graph {
	t.Helper()
	graph, err := botctx.GraphOf(nodes...)
	require.NoError(t, err)
	return graph
}

func TestGraph_IsData(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(graphOf(t, shop()), "", "  ")
	require.NoError(t, err)
	require.JSONEq(t, `{
		"nodes": [
			{"compositeId": "order", "tree": "", "trigger": "text is \"order\"", "global": "in the tree", "savesPosition": true},
			{"compositeId": "tea", "tree": "", "trigger": "when botctx_test.isOpen", "priority": 5},
			{"compositeId": "menu", "tree": ""},
			{"compositeId": "reminder", "tree": "later"},
			{"compositeId": "paid", "tree": ""}
		],
		"edges": [
			{"from": {"compositeId": "order", "tree": ""}, "to": {"compositeId": "reminder", "tree": "later"}, "kind": "agenda"},
			{"from": {"compositeId": "order", "tree": ""}, "to": {"compositeId": "tea", "tree": ""}, "kind": "child"},
			{"from": {"compositeId": "tea", "tree": ""}, "to": {"compositeId": "menu", "tree": ""}, "kind": "redirect"},
			{"from": {"compositeId": "tea", "tree": ""}, "to": {"compositeId": "order", "tree": ""}, "kind": "redirect"},
			{"from": {"compositeId": "menu", "tree": ""}, "to": {"compositeId": "menu", "tree": ""}, "kind": "redirect"},
			{"from": {"compositeId": "reminder", "tree": "later"}, "kind": "unknown"},
			{"to": {"compositeId": "paid", "tree": ""}, "kind": "unknown"},
			{"from": {"compositeId": "paid", "tree": ""}, "to": {"compositeId": "stars?", "tree": "survey"}, "kind": "redirect"}
		],
		"warnings": [{
			"kind": "missing", "node": {"compositeId": "paid", "tree": ""},
			"text": "the node paid redirects to stars? (tree survey), but there is no node in that tree: give its nodes to Handle, too"
		}]
	}`, string(text))
	var read botctx.Graph
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, graphOf(t, shop()), read)
}

func TestGraphOf_RefusesWhatHandleRefuses(t *testing.T) {
	t.Parallel()
	_, err := botctx.GraphOf(&botctx.Node{ID: "a", Parent: "b"})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestGraph_Mermaid(t *testing.T) {
	t.Parallel()
	//nolint:dupword // A line ends with the name of a box with which the next one begins.
	require.Equal(t, `flowchart TD
  n0(["order<br>text is #quot;order#quot;<br>anywhere in the tree"])
  n1["tea<br>when botctx#95;test#46;isOpen"]
  n2["menu"]
  n4["paid"]
  u5a{{"anywhere"}}
  u6o{{"outside"}}
  u7a{{"stars? #40;tree survey#41; is not there"}}
  subgraph t1["later"]
    n3["reminder"]
  end
  n0 -. "agenda" .-> n3
  n0 --> n1
  n1 ==> n2
  n1 ==> n0
  n2 ==> n2
  n3 -.-> u5a
  u6o -.-> n4
  n4 ==> u7a
`, graphOf(t, shop()).Mermaid())
}

func TestGraph_DOT(t *testing.T) {
	t.Parallel()
	require.Equal(t, `digraph bot {
  node [shape=box];
  n0 [label="order\ntext is \"order\"\nanywhere in the tree", style=rounded];
  n1 [label="tea\nwhen botctx_test.isOpen"];
  n2 [label="menu"];
  n4 [label="paid"];
  u5a [label="anywhere", shape=hexagon];
  u6o [label="outside", shape=hexagon];
  u7a [label="stars? (tree survey) is not there", shape=hexagon];
  subgraph cluster_1 {
    label="later";
    n3 [label="reminder"];
  }
  n0 -> n3 [style=dashed, label="agenda"];
  n0 -> n1;
  n1 -> n2 [style=bold];
  n1 -> n0 [style=bold];
  n2 -> n2 [style=bold];
  n3 -> u5a [style=dotted];
  u6o -> n4 [style=dotted];
  n4 -> u7a [style=bold];
}
`, graphOf(t, shop()).DOT())
}

func TestGraph_LabelsAreEscaped(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct{ mermaid, dot string }{
		`say "hi"`:             {`say #quot;hi#quot;`, `say \"hi\"`},
		`a"]; n0 --> n1 %% b`:  {`a#quot;#93;#59; n0 #45;#45;#62; n1 #37;#37; b`, `a\"]; n0 --> n1 %% b`},
		"two\nlines\r\nor\r3":  {"two<br>lines<br>or�3", `two\nlines\nor�3`},
		"[a] (b) {c} <d> |e|":  {"#91;a#93; #40;b#41; #123;c#125; #60;d#62; #124;e#124;", "[a] (b) {c} <d> |e|"},
		"größer Ωμέγα 👩‍🍳":     {"größer Ωμέγα 👩‍🍳", "größer Ωμέγα 👩‍🍳"},
		`\N \" c\`:             {`#92;N #92;#quot; c#92;`, `\\N \\\" c\\`},
		"#quot; &quot; <br>":   {"#35;quot#59; #38;quot#59; #60;br#62;", "#quot; &amp;quot; <br>"},
		"`**bold**` 1. _x_":    {"#96;#42;#42;bold#42;#42;#96; 1#46; #95;x#95;", "`**bold**` 1. _x_"},
		"direction LR":         {"direction#32;LR", "direction LR"},
		"direction\u00a0LR a":  {"direction#160;LR a", "direction\u00a0LR a"},
		"  end  ":              {"#32;#32;end #32;", "  end  "},
		"a\x00b\u2028c\xffd\t": {"a�b�c�d�", "a�b�c�d�"},
	} {
		graph := graphOf(t, []*botctx.Node{{ID: id, Tree: id, Entry: true}})
		require.Contains(t, graph.Mermaid(), "  subgraph t1[\""+want.mermaid+"\"]\n    n0[\""+want.mermaid+"\"]\n  end\n")
		require.Contains(t, graph.DOT(), "    label=\""+want.dot+"\";\n    n0 [label=\""+want.dot+"\"];\n  }\n")
	}
}

func TestTriggers_DescribeThemselves(t *testing.T) {
	t.Parallel()
	for want, trigger := range map[string]botctx.Trigger{
		`text is "menu" or "start \"over\""`:                                      botctx.TextIs("menu", `start "over"`),
		`text is "1" or "2" or "3" or "4" or "5" or "6" or "7" or "8" and 1 more`: botctx.TextIs("1", "2", "3", "4", "5", "6", "7", "8", "9"),
		`text matches ^\d+$`:                         botctx.TextMatches(regexp.MustCompile(`^\d+$`)),
		`any text`:                                   botctx.AnyText(),
		`text by botctx_test.isShort`:                botctx.OnText(isShort),
		`payload is "yes"`:                           botctx.PayloadIs("yes"),
		`any event`:                                  botctx.AnyEvent(),
		`says hi`:                                    botctx.Described("says hi", botctx.AnyText()),
		`when a condition`:                           botctx.When(func(*botctx.Context) bool { return true }),
		`when botctx_test.gate.isOpen`:               botctx.When(gate{}.isOpen),
		`when botctx_test.isOpen`:                    botctx.When(isOpen),
		`botctx_test.matchesAll`:                     botctx.TriggerFunc(matchesAll),
		`any text and not (any event)`:               botctx.AllOf(botctx.AnyText(), botctx.Not(botctx.AnyEvent())),
		`(any text and any event) or payload is "a"`: botctx.AnyOf(botctx.AllOf(botctx.AnyText(), botctx.AnyEvent()), botctx.PayloadIs("a")),
	} {
		require.Equal(t, want, trigger.String())
	}
}

type gate struct{}

func (gate) isOpen(*botctx.Context) bool { return true }

func isShort(said string) bool { return len(said) < 5 }

func matchesAll(context.Context, *botctx.Context) (bool, error) { return true, nil }

// randomNodes returns nodes of a few trees with random parents, redirects and agendas.
func randomNodes(random *rand.Rand) []*botctx.Node {
	nodes := make([]*botctx.Node, 1+random.IntN(12))
	for i := range nodes {
		nodes[i] = &botctx.Node{ID: fmt.Sprintf("n%d %c", i, rune(random.IntN(0x3000))), Tree: []string{"", "a", "b\n"}[random.IntN(3)]}
	}
	other := func() botctx.NodeRef { return nodes[random.IntN(len(nodes))].Ref() }
	for i, node := range nodes {
		if parent := nodes[random.IntN(i+1)]; parent != node && parent.Tree == node.Tree {
			node.Parent = parent.ID
		}
		switch random.IntN(4) {
		case 0:
			to := other()
			node.Redirect = botctx.Redirect{NodeCompositeID: to.CompositeID, TreeID: to.Tree}.Always()
		case 1:
			node.Redirect = botctx.RedirectFunc(toMenu).Among(other(), other())
		case 2:
			node.Redirect = botctx.RedirectFunc(toMenu)
		}
		if random.IntN(3) == 0 {
			node.Schedules = []botctx.NodeRef{other()}
		}
	}
	return nodes
}

func edgesOf(nodes []*botctx.Node) []botctx.Edge {
	var edges []botctx.Edge
	for _, node := range nodes {
		if node.Parent != "" {
			edges = append(edges, botctx.Edge{From: botctx.NodeRef{CompositeID: node.Parent, Tree: node.Tree}, To: node.Ref(), Kind: botctx.EdgeChild})
		}
		if node.Redirect != nil {
			targets, areKnown := node.Redirect.Targets()
			for _, to := range targets {
				edges = append(edges, botctx.Edge{From: node.Ref(), To: to, Kind: botctx.EdgeRedirect})
			}
			if !areKnown {
				edges = append(edges, botctx.Edge{From: node.Ref(), Kind: botctx.EdgeUnknown})
			}
		}
		for _, to := range node.Schedules {
			edges = append(edges, botctx.Edge{From: node.Ref(), To: to, Kind: botctx.EdgeAgenda})
		}
	}
	return edges
}

func TestGraph_OfRandomNodes(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(t, 100, 20_000) {
		nodes := randomNodes(rand.New(rand.NewPCG(1, uint64(seed))))
		graph := graphOf(t, nodes)
		require.Subset(t, append(edgesOf(nodes), botctx.Edge{}), graph.Edges, "seed %d: no edge that is not there", seed)
		for _, edge := range edgesOf(nodes) {
			require.Contains(t, graph.Edges, edge, "seed %d", seed)
		}
		require.Len(t, graph.Edges, len(slices.Compact(slices.SortedFunc(slices.Values(graph.Edges), byText))), "seed %d: each once", seed)
		require.Equal(t, graph, graphOf(t, nodes), "seed %d: the same again", seed)
		requireDrawn(t, graph, graph.Mermaid(), " (?:-->|==>|-\\.->|-\\. \"agenda\" \\.->) ")
		requireDrawn(t, graph, graph.DOT(), " -> ")
	}
}

func byText(a, b botctx.Edge) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// requireDrawn requires a line for each node and each edge. Each edge must connect boxes that are drawn.
func requireDrawn(t *testing.T, graph botctx.Graph, drawing, arrow string) {
	t.Helper()
	boxes := map[string]bool{}
	for _, box := range regexp.MustCompile(`(?m)^ +([nu]\d+[ao]?) ?[\[{(]`).FindAllStringSubmatch(drawing, -1) {
		require.False(t, boxes[box[1]], "%s is drawn twice:\n%s", box[1], drawing)
		boxes[box[1]] = true
	}
	require.GreaterOrEqual(t, len(boxes), len(graph.Nodes), drawing)
	arrows := regexp.MustCompile(`(?m)^  (\w+)`+arrow+`(\w+)(?: \[.*\])?;?$`).FindAllStringSubmatch(drawing, -1)
	require.Len(t, arrows, len(graph.Edges), drawing)
	for _, one := range arrows {
		require.True(t, boxes[one[1]] && boxes[one[2]], "%s:\n%s", one[0], drawing)
	}
}
