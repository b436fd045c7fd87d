package botctx

import _ "embed" // The declarations.

// declarations are those of TypeScript.
//
//go:embed botctx.d.ts
var declarations string

// Declarations returns the declarations of TypeScript for who writes scripts, the file botctx.d.ts:
// `this` of a script with its records, helpers and operations. An editor that has it beside the
// scripts completes and checks them:
//
//	/** @this {botctx.Context} */
func Declarations() string { return declarations }
