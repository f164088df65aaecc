// The resolvers of ../schema.graphql, and the types whose fields they return.
package main

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	graphql "github.com/graph-gophers/graphql-go"
)

var values = map[string]int{"UP": 1, "NONE": 0, "DOWN": -1}

type root struct{}

type pageArguments struct {
	Group *string
	First *int32
	After *string
}

type connection struct {
	Edges    []*edge
	Nodes    []*article
	PageInfo pageInfo
}

type edge struct {
	Cursor string
	Node   *article
}

type pageInfo struct {
	HasNextPage bool
	EndCursor   *string
}

type group struct {
	ID   graphql.ID
	Name string
}

type userConnection struct{ Nodes []*user }

type refusal struct{ Message string }

// What articles or comments that were read together share: the viewer's votes on all of them are one batch.
type batch struct {
	numbers []int64
	once    sync.Once
	votes   map[int64]string
}

// What users that were read together share: their timelines are one batch.
type posters struct {
	names    []string
	once     sync.Once
	articles map[string]*connection
}

// What can be voted on. `time` is when it was posted, in unix milliseconds.
type subject struct {
	ID     graphql.ID
	Votes  int32
	number int64
	time   int64
	batch  *batch
}

type article struct {
	subject
	Title    string
	Link     *string
	Score    float64
	PostedAt string
	Poster   *user
	Groups   []group
}

type comment struct{ subject }

type user struct {
	ID       graphql.ID
	Username string
	siblings *posters
}

type feed struct{}

type voteInput struct {
	ArticleID graphql.ID
	Value     string
}

type voteOnCommentInput struct {
	CommentID graphql.ID
	Value     string
}

type votePayload struct {
	Article    *article
	Changed    bool
	UserErrors []refusal
}

type voteOnCommentPayload struct {
	Comment    *comment
	Changed    bool
	UserErrors []refusal
}

func (*root) Articles(arguments pageArguments) *connection {
	listing, index := listingOf(arguments.Group)
	first := countOf(arguments.First)
	return connectionOf(listing, readPage(index, first, arguments.After), first)
}

func (*root) Article(arguments struct{ ID graphql.ID }) *article {
	return articlesOf([]int64{numberIn(arguments.ID)})[0]
}

func (*root) Feed() *feed { return &feed{} }

func (*feed) Articles(ctx context.Context, arguments struct{ First *int32 }) *connection {
	viewer, first := clientOf(ctx).viewer(), countOf(arguments.First)
	return connectionOf("feed:"+viewer, readFeed(viewer, first), first)
}

func (*root) Vote(ctx context.Context, arguments struct{ Input voteInput }) *votePayload {
	id, value := numberIn(arguments.Input.ArticleID), values[arguments.Input.Value]
	changed, hash := castVote("vote", clientOf(ctx).digest(), id, value)
	shared := &batch{numbers: []int64{id}}
	return &votePayload{articleOf(id, hash, shared, &posters{}), changed, []refusal{}}
}

func (*root) VoteOnComment(ctx context.Context, arguments struct{ Input voteOnCommentInput }) *voteOnCommentPayload {
	id, value := numberIn(arguments.Input.CommentID), values[arguments.Input.Value]
	digest := clientOf(ctx).digest()
	changed, hash := castVote("voteOnComment", digest, config.Partitions, id, value, config.PlaceLifetime)
	found := comment{subjectOf("comment:", id, hash, &batch{numbers: []int64{id}})}
	return &voteOnCommentPayload{&found, changed, []refusal{}}
}

func (s *subject) ViewerVote(ctx context.Context) *string {
	viewer := clientOf(ctx).viewer()
	if viewer == "" || now() > s.time+config.VotingWindow {
		return nil
	}
	s.batch.once.Do(func() { s.batch.votes = readVotes(s.batch.numbers, viewer) })
	vote := s.batch.votes[s.number]
	return &vote
}

func (a *article) Voters(arguments struct{ First *int32 }) *userConnection {
	names := readVoters(a.number)
	if first := countOf(arguments.First); len(names) > first {
		names = names[:first]
	}
	nodes := make([]*user, len(names))
	for i, name := range names {
		nodes[i] = userOf(name, &posters{names: names})
	}
	return &userConnection{nodes}
}

func (u *user) Articles(arguments struct{ First *int32 }) *connection {
	u.siblings.once.Do(func() { u.siblings.read(countOf(arguments.First)) })
	return u.siblings.articles[u.Username]
}

func (p *posters) read(first int) {
	timelines, numbers := readTimelines(p.names, first), []int64{}
	for _, timeline := range timelines {
		numbers = append(numbers, numbersIn(timeline, first)...)
	}
	found := articlesOf(numbers)
	p.articles = make(map[string]*connection, len(p.names))
	for i, name := range p.names {
		count := len(numbersIn(timelines[i], first))
		p.articles[name] = joined("timeline:"+strings.ToLower(name), timelines[i], found[:count], first)
		found = found[count:]
	}
}

func connectionOf(listing string, found []place, first int) *connection {
	return joined(listing, found, articlesOf(numbersIn(found, first)), first)
}

// `found` has one place more than `first`, if there is a next page.
func joined(listing string, found []place, nodes []*article, first int) *connection {
	edges := make([]*edge, len(nodes))
	for i, node := range nodes {
		edges[i] = &edge{cursorOf(listing, found[i]), node}
	}
	var end *string
	if len(edges) > 0 {
		end = &edges[len(edges)-1].Cursor
	}
	return &connection{edges, nodes, pageInfo{len(found) > first, end}}
}

func articlesOf(numbers []int64) []*article {
	shared, users := &batch{numbers: numbers}, &posters{}
	found := make([]*article, len(numbers))
	for i, hash := range readHashes(numbers) {
		if _, exists := hash["title"]; exists {
			found[i] = articleOf(numbers[i], hash, shared, users)
			users.names = append(users.names, hash["poster"])
		}
	}
	return found
}

func subjectOf(kind string, id int64, hash map[string]string, shared *batch) subject {
	at, _ := strconv.ParseInt(hash["time"], 10, 64)
	up, _ := strconv.Atoi(hash["up"])
	down, _ := strconv.Atoi(hash["down"])
	return subject{graphql.ID(kind + number(id)), int32(up - down), id, at, shared}
}

func articleOf(id int64, hash map[string]string, shared *batch, users *posters) *article {
	found := article{subject: subjectOf("article:", id, hash, shared), Title: hash["title"]}
	if link, exists := hash["link"]; exists {
		found.Link = &link
	}
	found.Score = (float64(found.time) + config.VoteWorth*float64(found.Votes)) / 1000
	found.PostedAt = time.UnixMilli(found.time).UTC().Format("2006-01-02T15:04:05.000Z")
	found.Poster = userOf(hash["poster"], users)
	found.Groups = []group{}
	for _, name := range strings.Fields(hash["groups"]) {
		found.Groups = append(found.Groups, group{graphql.ID("group:" + name), name})
	}
	return &found
}

func userOf(name string, siblings *posters) *user {
	return &user{graphql.ID("user:" + strings.ToLower(name)), name, siblings}
}

func countOf(first *int32) int {
	if first == nil {
		return 25
	}
	return int(*first)
}

func numberIn(id graphql.ID) int64 {
	found, err := strconv.ParseInt(string(id)[strings.Index(string(id), ":")+1:], 10, 64)
	check(err)
	return found
}

func numbersIn(found []place, first int) []int64 {
	if len(found) > first {
		found = found[:first]
	}
	numbers := make([]int64, len(found))
	for i, each := range found {
		numbers[i], _ = strconv.ParseInt(strings.TrimLeft(each.member, "0"), 10, 64)
	}
	return numbers
}
