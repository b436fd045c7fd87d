package browsertest_test

import (
	"testing"

	"github.com/botctx/go-sdk/fakes/simulator"
)

func TestPage_NodesAndWhyDuringALiveChat(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("a person")
	p.sees(".log", "Somebody comes.")
	p.presses("Grace")
	p.presses("Take")
	p.says("Where does it leak?")
	p.sees(".log", "Where does it leak?")
	p.sees(".panel article", "The live chat took it. Grace is an agent, who stands at no node.")
	p.presses("Ada")
	p.says("At the lid.")
	p.sees(".panel article", "The live chat took it. Ada was in a live chat: nodes of the live-chat tree may answer, and else an agent does.")
	p.presses("Nodes")
	p.sees(".panel", "Ada is in a live chat: nodes of the live-chat tree may answer, and else an agent does.")
	p.sees(".panel", "What Ada wrote last: The live chat took it.")
	p.evaluatesTo(`document.querySelector(".answered") === null`)
	p.presses("Grace")
	p.presses("End the live chat")
	p.presses("Nodes")
	p.sees(".panel", "Grace is an agent. What Grace wrote last: The live chat took it.")
	p.presses("Ada")
	p.says("hi")
	p.presses("Nodes")
	p.sees(".panel", "Ada stands at no node: the head nodes answer. What Ada wrote last: The node hello answered.")
	p.evaluatesTo(`document.querySelector(".answered .name").textContent === "hello"`)
}
