-- Functions of the scripts that reply with a page of a listing by position.

-- The ranks of the entries of a page in a listing of `total` entries, counted from 0: from the first one to the one after the
-- last. `count_before(including)` is how many entries precede the position, with `including` the one at the position, too;
-- nil if there is no position: then a page down begins after `skip` entries, and one up ends at the last entry.
local function page_ranks(direction, count, skip, total, count_before) --> (from, to)
  if direction == "down" then
    local from = count_before and count_before(true) or math.min(skip, total)
    return from, math.min(from + count, total)
  end
  local to = count_before and count_before(false) or total
  return math.max(0, to - count), to
end

-- One text with spaces between is decoded and cached faster than a list.
local function page_reply(above, total, entries) --> "above total member value ..."
  table.insert(entries, 1, total)
  table.insert(entries, 1, above)
  return table.concat(entries, " ")
end
