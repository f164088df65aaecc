"""
The queries and mutations that tests of the archive send. `LISTINGS` and `MUTATIONS` have their texts, by the names that
the tests use.
"""

ARTICLE = """id title link content postedAt editedAt upvotes downvotes votes score isGood isVotingOpen votingClosesAt
  viewerVote poster { username karma } groups { name } voters(first: 3) { totalCount nodes { username } }"""


PAGE = f"""totalCount pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
  edges {{ cursor node {{ {ARTICLE} }} }}"""


PAGING = "$first: Int, $after: String, $last: Int, $before: String"


PAGING_PASSED = "first: $first, after: $after, last: $last, before: $before"


RANKING = "$order: ArticleOrder, $since: DateTime, $page: Int, $pinned: Boolean"


RANKING_PASSED = "order: $order, since: $since, page: $page, pinned: $pinned"


LISTINGS = {
    "articles": f"query({PAGING}, {RANKING}) {{ listing: articles({PAGING_PASSED}, {RANKING_PASSED}) {{ {PAGE} }} }}",
    "group": f"""query({PAGING}, {RANKING}, $name: String!) {{
      group(name: $name) {{ listing: articles({PAGING_PASSED}, {RANKING_PASSED}) {{ {PAGE} }} }} }}""",
    "timeline": f"""query({PAGING}, $name: String!) {{
      user(username: $name) {{ karma listing: articles({PAGING_PASSED}) {{ {PAGE} }} }} }}""",
    "front page": f"query({PAGING}, $date: Date) {{ listing: frontPage({PAGING_PASSED}, date: $date) {{ {PAGE} }} }}",
    "link": f"query({PAGING}, $link: URL!) {{ listing: articlesByLink({PAGING_PASSED}, link: $link) {{ {PAGE} }} }}",
    "feed": f"""query({PAGING}, $unseen: Boolean) {{ feed {{
      unseenCount seenThrough listing: articles({PAGING_PASSED}, unseenOnly: $unseen) {{ {PAGE} }} }} }}""",
}


STANDINGS = """query($ids: [ID!]!, $order: ArticleOrder, $group: String) { nodes(ids: $ids) { ... on Article {
  id standing(order: $order, group: $group) { rank value votesToNextRank terms { name value } } } } }"""


NODES = f"""query($id: ID!, $ids: [ID!]!) {{ node(id: $id) {{ id ... on Article {{ {ARTICLE} }} }}
  nodes(ids: $ids) {{ id ... on Article {{ {ARTICLE} }} }} groups(first: 100) {{ totalCount nodes {{ name }} }} }}"""


ACTION = "changed action { id kind subjectId reason subject { id } group { name } }"


ERRORS = "userErrors { code message field }"


MUTATIONS = {
    "post": f"""mutation($input: PostInput!) {{ post(input: $input) {{
      {ERRORS} article {{ {ARTICLE} }} duplicateOf {{ id }} }} }}""",
    "vote": f"mutation($input: VoteInput!) {{ vote(input: $input) {{ {ERRORS} article {{ {ARTICLE} }} }} }}",
    "edit": f"""mutation($input: EditArticleInput!) {{
      editArticle(input: $input) {{ {ERRORS} article {{ {ARTICLE} }} }} }}""",
    "regroup": f"""mutation($input: RegroupArticleInput!) {{
      regroupArticle(input: $input) {{ {ERRORS} article {{ {ARTICLE} }} }} }}""",
    "delete": f"""mutation($input: DeleteArticleInput!) {{
      deleteArticle(input: $input) {{ {ERRORS} deletedArticleId }} }}""",
    "comment": f"""mutation($input: CommentInput!) {{ comment(input: $input) {{
      {ERRORS} comment {{ content article {{ title commentCount }} }} }} }}""",
    "remove": f"mutation($input: RemoveContentInput!) {{ removeContent(input: $input) {{ {ERRORS} {ACTION} }} }}",
    "approve": f"mutation($input: ApproveContentInput!) {{ approveContent(input: $input) {{ {ERRORS} {ACTION} }} }}",
    "lock": f"mutation($input: LockArticleInput!) {{ lockArticle(input: $input) {{ {ERRORS} {ACTION} }} }}",
    "follow": f"mutation($input: FollowUserInput!) {{ followUser(input: $input) {{ {ERRORS} changed }} }}",
    "unfollow": f"mutation($input: FollowUserInput!) {{ unfollowUser(input: $input) {{ {ERRORS} changed }} }}",
    "seen": f"""mutation($input: MarkFeedSeenInput!) {{
      markFeedSeen(input: $input) {{ {ERRORS} feed {{ seenThrough }} }} }}""",
}
