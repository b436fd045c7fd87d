// Package script runs bot logic in JavaScript: each script is the body of a function whose `this` is the
// context of the run, as on the platform.
//
//   - To run scripts, create an engine with [New], one for all scripts, and call [Engine.Compile] for each.
//   - To build a bot from a folder of scripts, use [Load]; to use a single script in a node, take
//     [Program.Action], [Program.Trigger] or [Program.Redirect].
//   - To offer moment, lodash and your own modules, set [Options].Modules to the folder that contains
//     node_modules.
//
// In a script, `this` has the records of the run (channel, member, node, agendaMeta, messageEvent, group), the
// helpers fetch, moment and lodash, and every value that earlier scripts of the run have left on it. It also has
// every operation under its name in the specification, as a function that takes one object and returns a Promise. A
// script's changes to this.member have the same effect as an action's changes to bot.Member in Go: botMeta, meta,
// customLocale and group are written back if the run succeeds. If a script returns {member}, that member replaces the
// run's. Scripts may use await and return at their top level.
//
// Errors of operations are Error objects with code, field and operation. An error that a script does not
// catch fails the run with an [Error], which names the script's file, line and column.
//
// # Values
//
// Values keep their types on the way to Go and back: a Date is a time, an integer beyond 2^53 is a BigInt, and a
// RegExp in a filter is a $regex. A value that documents cannot hold is InvalidArgument with the path: a function, a
// symbol, a Map, an instance of a class without toJSON, a cycle. undefined is omitted from data, but refused in a
// filter, an id or a tag, because it would select everything.
//
// # Limits
//
// Each run has its own memory, in QuickJS compiled to WebAssembly. It cannot reach any part of the process:
// no files, no environment, and no network except through the guarded client of fetch. Each run begins with
// the same memory, so no run sees another run's data.
//
// [Options] has the limits of a run: its total time, its computing time, its memory, the number of calls to
// the host, and the size of values. A script that exceeds one ends with ResourceExhausted. It cannot catch
// this, and none of its code runs afterwards. Calls nested too deep, at some 1,000 levels, throw a
// RangeError, which is ResourceExhausted if the script does not catch it.
//
// A script and a URL may have 256 KB, and a module 4 MB. Compiling a script may take 2 s, and a module 10 s. The first
// 1,000 lines of console output are kept, up to 8 KB each.
//
// A process runs at most one script per processor at the same time. Apps and their channels take turns. Waiting for a
// turn does not count toward the script's time. The wait ends with the context of Run.
//
// Scripts run on amd64 and arm64.
package script
