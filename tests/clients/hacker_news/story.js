// What node-hn-api reads of a server. Arguments: the address of the API, the number of a story, the name of a user.
import * as client from "node-hn-api";

const [address, story, username] = process.argv.slice(2);
const original = "https://hacker-news.firebaseio.com/v0/";
const { fetch } = globalThis;
globalThis.fetch = (url) => fetch(url.replace(original, address));

const titles = (items) => items.map((item) => item.title);

/** The comments below an item, each before its answers. */
async function thread(ids = []) {
  const found = [];
  for (const id of ids) {
    const comment = await client.fetchItem(id);
    found.push([comment.by, comment.text, comment.parent], ...(await thread(comment.kids)));
  }
  return found;
}

const item = await client.fetchItem(Number(story));
const user = await client.fetchUser(username);
const submitted = (await Promise.all(user.submitted.map(client.fetchItem))).map((each) => each.type);
const count = (type) => submitted.filter((each) => each === type).length;
console.log(
  JSON.stringify({
    top: (await client.fetchTopStories(100)).map((each) => each.id),
    new: titles(await client.fetchNewStories(3)),
    ask: titles(await client.fetchAskStories(3)),
    show: titles(await client.fetchShowStories(3)),
    jobs: await client.fetchJobStories(3),
    story: [item.title, item.url, item.score, item.by, item.descendants],
    thread: await thread(item.kids),
    user: [user.id, user.karma, count("story"), count("comment")],
  }),
);
