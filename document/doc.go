// Package document holds the values that records, filters and messages are made of: null,
// bool, int64, float64, string, time, arrays and objects, with their order, their paths, and
// the ways from and to JSON and Go's structs.
//
// Values are immutable. An Object or an Array that was handed out never changes, whoever holds
// it: Object.Set gives the variable a new version and leaves every other holder with the old
// one. So nothing has to be copied between a caller, a store and its readers, and nobody can
// change what another one reads.
//
// O and A make objects and arrays, Set, Inc and Push the patches that are used most, Get reads
// a path, As and Change read and change an object as a struct, Encode and Decode go between
// objects and structs. Shape, Builder and Edit are for who makes or changes many objects, as
// package query does.
package document
