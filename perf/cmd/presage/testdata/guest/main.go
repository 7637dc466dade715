// Command guest performs the action named by its first argument, for the tests
// of presage run.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

func main() {
	switch os.Args[1] {
	case "cat":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			os.Exit(9)
		}
	case "args":
		fmt.Printf("%q %q\n", os.Args[1:], os.Environ())
		fmt.Fprintln(os.Stderr, "to the error stream")
	case "exit":
		n, _ := strconv.Atoi(os.Args[2])
		os.Exit(n)
	case "copy":
		data, err := os.ReadFile(os.Args[2])
		if err == nil {
			err = os.WriteFile(os.Args[3], data, 0o644)
		}
		fmt.Println(err)
	case "spin":
		for {
		}
	case "count":
		for i := range 200 {
			sum := 0
			for j := range 10_000 {
				sum += i * j
			}
			fmt.Println(i, sum)
		}
	}
}
