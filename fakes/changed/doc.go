// Package changed tells what differs between records before and after something was done. fakes.Diff gives it for a whole
// platform.
//
//   - To see what became of one record, look at the Before, the After and the Fields of a [Record].
//   - To compare two objects, use [Fields]; two lists of them, [Records].
package changed
