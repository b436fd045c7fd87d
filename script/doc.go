// Package script runs bot logic that is written in JavaScript: the body of a function over `this`,
// which is the context of the run, as the platform has it.
//
//   - To run scripts, make an engine with [New], once for all of them, and [Engine.Compile] each.
//   - To make a bot of a folder of scripts, use [Load]; to use one script in a node, take [Program.Action],
//     [Program.Trigger] or [Program.Redirect].
//   - To offer moment, lodash and modules of your own, give [Options] the folder that has node_modules.
//
// In a script, `this` has the records of the run (channel, member, node, agendaMeta, messageEvent,
// group), every operation by its name in the specification, as a function that takes one object and
// returns a Promise, the helpers fetch, moment and lodash, and what the scripts before it in the run
// have left on it. What a script changes of this.member is what an action in Go would change of
// bot.Member: botMeta, meta, customLocale and group are written back when the run has ended well. A
// script may return {member}, which then takes the place of the run's member. It may use await and
// return at its top level.
//
// Errors of operations are Error objects with code, field and operation. What a script does not
// catch fails the run with an [Error], which names the script's file, line and column.
//
// # What a script may cost
//
// Each run has a global scope of its own, which ends with it: scripts share no variables, and a change
// of a prototype is seen by nobody else. Nothing of the host can be reached: no files, no processes,
// no environment, no network but the guarded client of fetch. [Options] bounds the time, the calls,
// the depth, the memory and the sizes of values.
//
// What a source may be is bounded, too: 256 KB for a script and 768 KB for a module, 1,000 open brackets, 20,000
// operators in a row, syntax 5,000 deep, functions nested 250 deep, and 30 s to read it. Of console.log 8 KB are kept.
//
// As many scripts of an [Engine] compute at once as there are processors. The others wait for their turn, which
// is no time of theirs, and ends with the context that Run is given.
//
// These limits are for scripts that are wrong, and for those who try. Memory is that of the process:
// who has computed for longest while it grows is ended. Where strangers write the scripts, give them a
// process of their own with a limit of memory beside it.
package script
