// graph-gophers, a GraphQL server in Go, on net/http, with a pool of redigo's connections: each batch is one pipeline.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"

	graphql "github.com/graph-gophers/graphql-go"
)

type contextKey struct{}

type body struct {
	Query     string                 `json:"query"`
	Operation string                 `json:"operationName"`
	Variables map[string]interface{} `json:"variables"`
}

func main() {
	text, err := os.ReadFile("../schema.graphql")
	check(err)
	schema := graphql.MustParseSchema(string(text), &root{}, graphql.UseFieldResolvers())
	http.HandleFunc("/graphql", func(response http.ResponseWriter, request *http.Request) {
		var asked body
		if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		token := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
		ctx := context.WithValue(request.Context(), contextKey{}, &client{token: token})
		var answer bytes.Buffer
		check(json.NewEncoder(&answer).Encode(schema.Exec(ctx, asked.Query, asked.Operation, asked.Variables)))
		response.Header().Set("Content-Type", "application/json")
		_, _ = response.Write(answer.Bytes())
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("BENCH_PORT"), nil))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
