-- Branch paths of comments: the descendants of a comment are one lexical range of `tree`, so that they are counted in
-- O(log n), at any depth.
--
-- A path is a text and an index. The article has "" and 0. The first reply to a comment continues its path with the next
-- index; each further reply begins a side path: the text of the comment (its path, then its index), then the number of
-- the side path, with index 0. Numbers are written in digits whose lexical order is numerical, and no number is the
-- beginning of another one. So a comment stands before its side paths, and these before the continuation. For example, the
-- labels (text and index) of an article, of its first reply A, of a reply to A and of its second reply are "-", "0", "1" and
-- "---".
local encode, decode
do -- a script has at most 200 local variables
  local DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
  local FIRST_LONG = 59 -- the value of the first digit that says how many follow; lower ones stand alone
  local LENGTHS = {1, 2, 3, 4, 6} -- how many digits follow those of the values 59 to 63

  function encode(number) --> digits
    local text, rest = "", number
    local lead, length = number, 0
    if number >= FIRST_LONG then
      rest = number - FIRST_LONG
      for i = 1, #LENGTHS do
        lead, length = FIRST_LONG + i - 1, LENGTHS[i]
        if rest < 64 ^ length then break end
        rest = rest - 64 ^ length
      end
    end
    for place = length - 1, 0, -1 do
      local digit = math.floor(rest / 64 ^ place) % 64 + 1
      text = text .. string.sub(DIGITS, digit, digit)
    end
    return string.sub(DIGITS, lead + 1, lead + 1) .. text
  end

  local function digit_at(text, place)
    return string.find(DIGITS, string.sub(text, place, place), 1, true) - 1
  end

  -- The number that begins at a place of a text, and the place after it.
  function decode(text, place) --> (number, next place)
    local lead = digit_at(text, place)
    if lead < FIRST_LONG then return lead, place + 1 end
    local number, length = FIRST_LONG, LENGTHS[lead - FIRST_LONG + 1]
    for i = 1, lead - FIRST_LONG do number = number + 64 ^ LENGTHS[i] end
    for next = place + 1, place + length do number = number + digit_at(text, next) * 64 ^ (place + length - next) end
    return number, place + length + 1
  end
end

-- The path of a comment as its hash has it: text and index, separated by a space.
local function parse_path(stored) --> {text, index}
  local text, index = string.match(stored, "^(%S*) (%d+)$")
  return {text = text, index = tonumber(index)}
end

-- The label of a comment: its path as one text, by which the tree is sorted.
local function label_of(path) --> text
  return path.text .. encode(path.index)
end

-- What the sorted set `tree` has of a comment: LABEL NUMBER.
local function tree_member(path, number) --> LABEL NUMBER
  return label_of(path) .. " " .. number
end

-- The bounds of the range that has the descendants of a comment: after its own member, as "!" follows the space in it,
-- up to the last one with its text, as "~" follows all digits.
local function descendants_of(path) --> (from, to)
  return "[" .. label_of(path) .. "!", "(" .. path.text .. "~"
end

-- The number of visible descendants of a comment. `stubs` is the key with those members of the tree that are not
-- visible.
local function count_descendants(tree, stubs, path) --> number
  local from, to = descendants_of(path)
  local count = redis.call("ZLEXCOUNT", tree, from, to)
  return count > 0 and count - redis.call("ZLEXCOUNT", stubs, from, to) or 0
end

