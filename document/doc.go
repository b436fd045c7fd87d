// Package document implements the values in records, filters and messages: null, bool, int64, float64,
// string, time, arrays and objects, with their order and paths, and their conversion to and from JSON and Go
// structs.
//
//   - To make values, use [O] and [A]; [Set], [Inc] and [Push] make the most common patches.
//   - To read a path, use [Get]; to change one, [Object.Set].
//   - To read a value as a struct, use [As]; to change it as one, [Change].
//
// Values are immutable. An Object or an Array never changes, even if several readers share it: Object.Set
// gives the variable a new version, and other variables keep the old one. So values need not be copied
// between a caller, a store and its readers, and no caller can change another's values.
//
// Encode and Decode convert between objects and structs. Shape, Builder and Edit are for code that makes or
// changes many objects, such as the query engine.
package document
