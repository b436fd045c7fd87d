package script

import "encoding/json"

// hostFind returns the file that a name means to a file of a folder: [folder, name].
func (r *run) hostFind(payload string) (any, error) {
	var asked [2]string
	if err := json.Unmarshal([]byte(payload), &asked); err != nil {
		return nil, err
	}
	return r.engine.modules.Find(asked[0], asked[1])
}

// hostLoad hands over the function of a module, and returns null; or the text of a file of JSON.
func (r *run) hostLoad(payload string) (any, error) {
	var file string
	if err := json.Unmarshal([]byte(payload), &file); err != nil {
		return nil, err
	}
	if known, isCompiled := r.engine.compiled.Load(file); isCompiled {
		return nil, r.handOver(known.([]byte)) //nolint:forcetypeassert // Nothing else is stored.
	}
	module, err := r.engine.modules.Read(file)
	if err != nil || module.IsJSON {
		return module.Source, err
	}
	return nil, r.compileAndHandOver(file, moduleHead, moduleHead+module.Source+foot)
}

// hostPart hands over the function of a part of the prelude.
func (r *run) hostPart(payload string) (any, error) {
	var name string
	if err := json.Unmarshal([]byte(payload), &name); err != nil {
		return nil, err
	}
	file := ownFiles + name
	if known, isCompiled := r.engine.compiled.Load(file); isCompiled {
		return nil, r.handOver(known.([]byte)) //nolint:forcetypeassert // Nothing else is stored.
	}
	return nil, r.compileAndHandOver(file, "", parts[name].source)
}

func (r *run) compileAndHandOver(file, head, text string) error {
	bytecode, err := r.engine.compile(file, head, text)
	if err != nil {
		return err
	}
	r.engine.compiled.Store(file, bytecode)
	return r.handOver(bytecode)
}

// handOver gives the prelude the function that bytecode is. Nothing of it runs.
func (r *run) handOver(bytecode []byte) error {
	body, err := r.in.Load(bytecode)
	if err == nil {
		_, err = r.in.Call(r.prepared.take, body)
	}
	if err != nil {
		return endingError{err}
	}
	return nil
}
