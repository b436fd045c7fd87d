package main

import "time"

// step is a part of the conversation: a message, an agent who takes the newest ticket, time that passes, or
// the closing of the desk.
type step struct {
	who, says string
	takes     bool
	passes    time.Duration
	closes    bool
}

// pause is the time until the next step.
const pause = 20 * time.Second

var conversation = []step{
	{who: "Ada", says: "hi"},
	{who: "Ada", says: "person"},
	{who: "Ada", says: "My brakes squeak."},
	{who: "Grace", takes: true},
	{who: "Grace", says: "Hello Ada, since when do they?"},
	{who: "Ada", says: "Since it rained."},
	{who: "Grace", says: "/transfer kitchen"},
	{who: "Grace", says: "/transfer workshop"},
	{who: "Hedy", takes: true},
	{who: "Ada", says: "Can I ride it?"},
	{who: "Hedy", says: "Yes. Clean the rims with alcohol, that helps."},
	{who: "Ada", says: "Thank you!"},
	{who: "Hedy", says: "/done"},
	{who: "Ada", says: "hours"},

	{who: "Bob", says: "person"},
	{who: "Bob", says: "Do you buy old bicycles?"},
	{who: "Grace", takes: true},
	{who: "Grace", says: "What is it?"},
	{passes: 30 * time.Minute}, // Bob does not answer, so the live chat ends.
	{who: "Bob", says: "A racer of 1983."},
	{who: "Bob", says: "person"},
	{who: "Bob", says: "About my racer."},
	{who: "Bob", says: "bye"}, // Before an agent joins.

	{closes: true},
	{who: "Bob", says: "person"},
	{who: "Bob", says: "Are you there?"},
}
