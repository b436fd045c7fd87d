package script

import (
	"encoding/json"

)

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
	bytecode, isCompiled := r.engine.compiled.Load(file)
	if !isCompiled {
		module, err := r.engine.modules.Read(file)
		if err != nil || module.IsJSON {
			return module.Source, err
		}
		if bytecode, err = r.engine.compile(file, moduleHead, moduleHead+module.Source+foot); err != nil {
			return nil, err
		}
		r.engine.compiled.Store(file, bytecode)
	}
	body, err := r.in.Load(bytecode.([]byte)) //nolint:forcetypeassert // Nothing else is stored.
	if err != nil {
		return nil, endingError{err}
	}
	if _, err := r.in.Call(r.prepared.take, body); err != nil {
		return nil, endingError{err}
	}
	return nil, nil //nolint:nilnil // There is no text.
}
