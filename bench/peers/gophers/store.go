// What this peer reads from Valkey and writes there: each function sends one pipeline, `castVote` a script of Upvote.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

type script struct {
	Keys []string
	Text string
}

// What BENCH_CONFIG has: `_config` of bench/__main__.py describes it.
var config struct {
	Redis         string
	Keys          map[string]string
	Scripts       map[string]script
	Policy        []interface{}
	Partitions    int
	PlaceLifetime int64
	VoteWorth     float64
	VotingWindow  int64
}

var pool = &redis.Pool{MaxIdle: 64, Dial: func() (redis.Conn, error) { return redis.Dial("unix", config.Redis) }}
var scripts = map[string]*redis.Script{}

// The vote of a viewer, by whether they are among those who voted up, and among those who voted down.
var votes = map[bool]map[bool]string{true: {true: "NONE", false: "UP"}, false: {true: "DOWN", false: "NONE"}}

type command []interface{}

// A place of a listing: the value as Redis writes it.
type place struct{ member, value string }

// Who sends a request. The session is read when it is first needed.
type client struct {
	token string
	once  sync.Once
	name  string
}

func init() {
	file, err := os.Open(os.Getenv("BENCH_CONFIG"))
	check(err)
	decoder := json.NewDecoder(file)
	decoder.UseNumber()
	check(decoder.Decode(&config))
	for name, each := range config.Scripts {
		scripts[name] = redis.NewScript(len(each.Keys), each.Text)
	}
}

func key(kind string, name string) string { return strings.Replace(config.Keys[kind], "%s", name, 1) }

func number(value int64) string { return strconv.FormatInt(value, 10) }

func now() int64 { return time.Now().UnixNano() / 1_000_000 }

func clientOf(ctx context.Context) *client { return ctx.Value(contextKey{}).(*client) }

func (c *client) digest() string {
	raw, _ := base64.RawURLEncoding.DecodeString(c.token)
	digest := sha256.Sum256(raw)
	return hex.EncodeToString(digest[:])
}

// The username of the session, or "".
func (c *client) viewer() string {
	c.once.Do(func() {
		if c.token == "" {
			return
		}
		session, _ := redis.String(piped(command{"GET", key("session", c.digest())})[0], nil)
		words := strings.Fields(session)
		if len(words) < 2 {
			return
		}
		if ends, _ := strconv.ParseInt(words[1], 10, 64); ends >= now() {
			c.name = words[0]
		}
	})
	return c.name
}

func piped(commands ...command) []interface{} {
	connection := pool.Get()
	defer connection.Close()
	for _, each := range commands {
		check(connection.Send(each[0].(string), each[1:]...))
	}
	check(connection.Flush())
	replies := make([]interface{}, len(commands))
	for i := range commands {
		reply, err := connection.Receive()
		check(err)
		replies[i] = reply
	}
	return replies
}

func listingOf(group *string) (string, string) {
	if group == nil {
		return "score", key("score", "")
	}
	return "group:" + *group + ":score", key("group", *group)
}

// The places of a page below a cursor, and one more if there is a next page.
func readPage(index string, first int, after *string) []place {
	from := "+inf"
	if after != nil {
		from = "(" + positionOf(*after)[1]
	}
	return places(piped(command{"ZRANGE", index, from, "-inf", "BYSCORE", "REV", "LIMIT", 0, first + 1, "WITHSCORES"})[0])
}

// The same of a feed: the newest articles of a user and of those whom they follow.
func readFeed(username string, first int) []place {
	names, err := redis.Strings(piped(command{"ZRANGE", key("following", username), 0, -1})[0], nil)
	check(err)
	var merged []place
	for _, timeline := range readTimelines(append([]string{username}, names...), first) {
		merged = append(merged, timeline...)
	}
	sort.Slice(merged, func(i, j int) bool {
		one, _ := strconv.ParseFloat(merged[i].value, 64)
		other, _ := strconv.ParseFloat(merged[j].value, 64)
		return one > other || one == other && merged[i].member > merged[j].member
	})
	if len(merged) > first+1 {
		return merged[:first+1]
	}
	return merged
}

// The newest places of timelines: `first` of each, and one more if there is a next page.
func readTimelines(names []string, first int) [][]place {
	commands := make([]command, len(names))
	for i, name := range names {
		commands[i] = command{"ZRANGE", key("timeline", strings.ToLower(name)), 0, first, "REV", "WITHSCORES"}
	}
	found := make([][]place, len(names))
	for i, reply := range piped(commands...) {
		found[i] = places(reply)
	}
	return found
}

func readHashes(numbers []int64) []map[string]string {
	commands := make([]command, len(numbers))
	for i, each := range numbers {
		commands[i] = command{"HGETALL", key("article", number(each))}
	}
	found := make([]map[string]string, len(numbers))
	for i, reply := range piped(commands...) {
		found[i], _ = redis.StringMap(reply, nil)
	}
	return found
}

func readVotes(numbers []int64, voter string) map[int64]string {
	commands := make([]command, 0, 2*len(numbers))
	for _, each := range numbers {
		commands = append(commands, command{"SISMEMBER", key("voted", number(each)), voter})
		commands = append(commands, command{"SISMEMBER", key("downvoted", number(each)), voter})
	}
	replies, found := piped(commands...), make(map[int64]string, len(numbers))
	for i, each := range numbers {
		found[each] = votes[replies[2*i].(int64) == 1][replies[2*i+1].(int64) == 1]
	}
	return found
}

func readVoters(subject int64) []string {
	names, err := redis.Strings(piped(command{"SMEMBERS", key("voted", number(subject))})[0], nil)
	check(err)
	sort.Slice(names, func(i, j int) bool { return strings.ToLower(names[i]) < strings.ToLower(names[j]) })
	return names
}

// Runs one of the very scripts that the project runs: whether the vote has changed something, and the subject's hash.
func castVote(name string, digest string, arguments ...interface{}) (bool, map[string]string) {
	given := []interface{}{}
	for _, each := range config.Scripts[name].Keys {
		given = append(given, each)
	}
	given = append(append(given, "", digest, now()), config.Policy...)
	connection := pool.Get()
	defer connection.Close()
	reply, err := redis.Values(scripts[name].Do(connection, append(given, arguments...)...))
	check(err)
	status, _ := redis.String(reply[0], nil)
	hash, err := redis.StringMap(reply[2], nil)
	check(err)
	return status == "voted", hash
}

func places(reply interface{}) []place {
	flat, err := redis.Strings(reply, nil)
	check(err)
	found := make([]place, 0, len(flat)/2)
	for i := 0; i < len(flat); i += 2 {
		found = append(found, place{flat[i], flat[i+1]})
	}
	return found
}

// Cursors of Upvote have values as Python prints them: 5.0, not 5.
func cursorOf(listing string, at place) string {
	value := at.value
	if !strings.Contains(value, ".") {
		value += ".0"
	}
	return base64.RawURLEncoding.EncodeToString([]byte(listing + "|" + value + "|" + at.member))
}

func positionOf(cursor string) []string {
	text, _ := base64.RawURLEncoding.DecodeString(cursor)
	return strings.Split(string(text), "|")
}
