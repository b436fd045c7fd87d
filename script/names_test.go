package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

// A name that is put together brings what stands before the function that it is of.
func TestHostile_NamesPutTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxLength: 1000})
	const long = "\nconst l = 'x'.repeat(999), a = [l, l]; let k = 'jo'; k += 'in'\n"
	for _, source := range []string{
		"return 'x'['rep' + 'eat'](1001)",
		"const k = ['repeat'][0]; return 'x'[k](1001)",
		"const k = { toString: () => 'repeat' }; return 'x'[k](1001)",
		"const { ['rep' + 'eat']: f } = 'x'; return f.call('x', 1001)",
		"const k = 'repeat'; let f; ({ [k]: f } = ''); return f.call('x', 1001)",
		"const k = 'repeat'; return 'x'?.[k](1001)",
		"const k = 'repeat'; class A extends String { m() { return super[k](1001) } } return new A('x').m()",
		long + "return a[k]()",
		long + "return [][k].call(a)",
		long + "const f = Object; Object = { keys: 1 }; return f['ke' + 'ys'](l + l)",
		long + "const o = {}['constr' + 'uctor']; return o['ke' + 'ys'](l + l)",
		long + "const g = (function () { return this })(); const O = g['Obj' + 'ect']; g['Obj' + 'ect'] = {}; return O['ke' + 'ys'](l + l)",
		long + "const g = (function () { return this })(); return new g['Uint8' + 'Array'](9999)",
		long + "const g = (function () { return this })(); return String(new g['Uint8' + 'Array'](1).fill(1)[k](l + l))",
		long + "const g = (function () { return this })(); return g['JS' + 'ON']['par' + 'se']('['.repeat(999))",
		"Object.getPrototypeOf = () => ({}); Array.prototype.map = null; return (() => {})['constr' + 'uctor']('return 1')()",
		"return (function () { return this })()['ev' + 'al']('1')",
	} {
		program, err := s.engine.Compile("test.js", source)
		require.NoError(t, err, source)
		value, err := program.Run(t.Context(), s.ada.Context())
		require.Error(t, err, "%s: %v", source, value)
	}
}

func TestLanguage_NamesPutTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"const s = Symbol(); const k = 'a', o = { [k]: 1, [s]: 2, [k + 'b']: 3 }; return [o[k], o[s], o[k + 'b'], o['a'], delete o[k], o[k]]":                                                     `[1,2,3,1,true,null]`,
		"let i = 0; const a = [1, 2]; a[i++] += 5; a[i++] = 7; return [a, i, a[a.length - 1], a[-1]]":                                                                                             `[[6,7],2,7,null]`,
		"let n = 0; const o = { x: 1 }; const k = { toString() { n++; return 'x' } }; o[k]++; return [o.x, o[k], n]":                                                                              `[2,2,2]`,
		"const k = 'map'; return [1, 2][k]((x) => x * 2)":                                                                                                                                         `[2,4]`,
		"const { [`a${1}`]: b = 4, ...rest } = { a1: 2, c: 3 }; return [b, rest, {}[undefined], {null: 5}[null]]":                                                                                 `[2,{"c":3},null,5]`,
		"return [/b/g[Symbol.replace]('abcb', '[$&]'), /b/[Symbol.search]('ab'), /b/g[Symbol.match]('abb'), [.../b/g[Symbol.matchAll]('abb')].length, /,/[Symbol.split]('a,b', 1)]":               `["a[b]c[b]",1,["b","b"],2,["a"]]`,
		"const o = { [Symbol.replace]: (s, r) => [s, r] }; return ['a'.replace(o, 'b'), Object('a').replace('a', { toString: () => 'c' }), 'ab'.replace(/b/[Symbol.match] && /b/, (m) => m + m)]": `[["a","b"],"c","abb"]`,
		"class R extends RegExp { [Symbol.replace](s, r) { return 'r' + super[Symbol.replace](s, r) } } return 'ab'.replace(new R('b'), 'c')":                                                     `"rac"`,
		"try { return undefinedName[k]; } catch (e) { return e.name }":                                                                                                                            `"ReferenceError"`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}

// A pattern that takes the rest of what it is given takes what it takes without a guard, wherever it stands.
func TestLanguage_RestsInPatterns(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"const f = ({ a, ...r }, [b, ...c], d = r.e) => [a, r, b, c, d]; return [f({ a: 1, e: 2 }, 'xyz'), f.length]":   `[[1,{"e":2},"x",["y","z"],2],2]`,
		"function f({ ...r } = { a: 1 }, [...q] = [2]) { return [r, q, arguments.length] } return f()":                  `[{"a":1},[2],0]`,
		"const { groups: { y, ...r } } = /(?<y>1)(?<z>2)/.exec('12'); return [y, r]":                                    `["1",{"z":"2"}]`,
		"const o = []; for (const [k, ...v] of new Map([['a', 1]])) o.push(k, v); return o":                             `["a",[1]]`,
		"const o = []; for (const { a: [b, ...c], ...r } of [{ a: [1, 2], d: 3 }]) o.push(b, c, r); return o":           `[1,[2],{"d":3}]`,
		"let a, b, c; [a, [b, ...c] = [7, 8]] = [1]; ({ x: { ...a } } = { x: 'no' }); return [a, b, c]":                 `[{"0":"n","1":"o"},7,[8]]`,
		"try { throw { a: 1, b: 2 } } catch ({ a, ...r }) { return r }":                                                 `{"b":2}`,
		"const f = ([a, ...[b, ...c]], ...[d, ...e]) => [a, b, c, d, e]; return f([1, 2, 3], 4, 5)":                     `[1,2,[3],4,[5]]`,
		"const f = ([...a]) => a; try { f(undefined) } catch (e) { return [e.name, f(new Set([1])), Object.keys('')] }": `["TypeError",[1],[]]`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}
