// Package script runs bot logic in JavaScript: the body of a function over `this`, the context of the run, as
// on the platform.
//
//   - To run scripts, make an engine with [New], once for all of them, and [Engine.Compile] each.
//   - To make a bot of a folder of scripts, use [Load]; to use one script in a node, take [Program.Action],
//     [Program.Trigger] or [Program.Redirect].
//   - To offer moment, lodash and modules of your own, give [Options] the folder that has node_modules.
//
// In a script, `this` has the records of the run (channel, member, node, agendaMeta, messageEvent, group),
// every operation by its name in the specification, as a function that takes one object and returns a
// Promise, the helpers fetch, moment and lodash, and everything that earlier scripts of the run have left on
// it. A script's changes of this.member have the same effect as an action's changes of bot.Member in Go:
// botMeta, meta, customLocale and group are written back when the run has ended well. A script may return
// {member}, which then replaces the run's member. It may use await and return at its top level.
//
// Errors of operations are Error objects with code, field and operation. An error that a script does not
// catch fails the run with an [Error], which names the script's file, line and column.
//
// # Values
//
// Values keep their types on the way to Go and back. A Date is a time, an integer beyond 2^53 a BigInt, and a
// RegExp in a filter a $regex. Values that documents cannot hold are InvalidArgument with the path: a
// function, a symbol, a Map, an instance of a class without toJSON, a cycle. So is undefined in a filter, an
// id or a tag: it would select everything. In other data undefined is left out.
//
// # Limits
//
// Each run has its own memory, in QuickJS compiled to WebAssembly. It cannot reach anything of the process:
// no files, no environment, no network but the guarded client of fetch. Each run begins with the same memory,
// so no run sees data of another one.
//
// [Options] has the limits of a run: the total time, the time that it computes, memory, the calls of the
// host, and the size of values. A script that exceeds one ends with ResourceExhausted. It cannot catch that,
// and no part of it continues. Calls that are nested too deep, some 1,000 of them, throw a RangeError, which
// is ResourceExhausted if the script does not catch it.
//
// A script may have 256 KB and a module 4 MB. Reading a script may take 2 s, and a module 10 s. 1,000 lines
// of the console are kept, and 8 KB of each.
//
// As many scripts of an [Engine] compute at once as there are processors, and the apps take turns. Waiting
// for a turn does not count as time of the script. The wait ends with the context of Run.
//
// Scripts run on amd64 and arm64.
package script
