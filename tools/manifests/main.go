// Checks files for container engines and Kubernetes with the code that reads them there.
//
//	manifests containerfile FILE   BuildKit's parser and the linter rules that need no engine
//	manifests compose FILE         Compose's own loader; prints the resolved project as JSON
//	manifests kubernetes           manifests on standard input, decoded strictly; prints them as JSON
//
// Exit code 1: something is wrong, and standard error says what.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "containerfile":
		return checkContainerfile(arguments[1])
	case len(arguments) == 2 && arguments[0] == "compose":
		return checkCompose(arguments[1])
	case len(arguments) == 1 && arguments[0] == "kubernetes":
		return checkKubernetes(os.Stdin)
	}
	return fmt.Errorf("usage: manifests containerfile FILE | compose FILE | kubernetes < FILE")
}
