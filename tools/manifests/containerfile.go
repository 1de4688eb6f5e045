package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

type command struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type stage struct {
	Name     string    `json:"name"`
	Base     string    `json:"base"`
	Commands []command `json:"commands"`
}

// Prints the stages as JSON; each warning of the linter is a mistake.
func checkContainerfile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		return err
	}
	var problems []error
	for _, warning := range parsed.Warnings {
		problems = append(problems, errors.New(warning.Short))
	}
	lint := linter.New(&linter.Config{
		Warn: func(rule, _, _, message string, where []parser.Range) {
			problems = append(problems, fmt.Errorf("%s: %s %v", rule, message, where))
		},
	})
	stages, _, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return json.NewEncoder(os.Stdout).Encode(describe(stages))
}

func describe(stages []instructions.Stage) []stage {
	var described []stage
	for _, from := range stages {
		one := stage{Name: from.Name, Base: from.BaseName}
		for _, instruction := range from.Commands {
			one.Commands = append(one.Commands, command{instruction.Name(), fmt.Sprint(instruction)})
		}
		described = append(described, one)
	}
	return described
}
