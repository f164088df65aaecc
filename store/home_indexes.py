"""The indexes that homes need beside those of groups: by the site's weights, of groups with weights of their own."""

from store.keys import GROUP, ORDER
from store.kinds import Backup, Check, Kind

SITE_RANKED = Kind(
    "siteranked",
    "zset",
    (GROUP, ORDER),
    "an index of a group that has a weight of its own for this order, by the weights of the site: for homes",
    lifetime="while it has articles, and the weight",
    written_by="reindex, then the same as the index of the group",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)
