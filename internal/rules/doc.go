// Package rules holds the repository to its own rules. It has no code: each of
// its tests is one rule, and says in its failure what is broken, where, and
// what to do about it.
package rules
