// Package document holds the values that records, filters and messages are made of: null,
// bool, int64, float64, string, time, arrays and objects, with their order, their paths, and
// the ways from and to JSON and Go's structs.
//
//   - To make values, use [O] and [A]; [Set], [Inc] and [Push] make the patches that are used
//     most.
//   - To read a path, use [Get]; to change one, [Object.Set].
//   - To read a value as a struct, use [As]; to change it as one, [Change].
//
// Values are immutable. An Object or an Array never changes, even if several readers share it: Object.Set
// gives the variable a new version and leaves every other holder with the old one. So nothing has to be
// copied between a caller, a store and its readers, and no caller can change the values of another.
//
// Encode and Decode go between objects and structs. Shape, Builder and Edit are for code that makes
// or changes many objects, such as the query engine.
package document
