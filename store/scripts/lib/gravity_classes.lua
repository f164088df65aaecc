-- The classes of votes in the index of the order GRAVITY, which ranks by votes that lose weight with age.
--
-- The index has a mark for each article: class * 2^42 + posting time, negative if the article has less than one vote.
-- The class is that of the base, |votes - 1|: a class has all bases with the same leading binary digits (prelude.lua:
-- gravity_mark).
local CLASS = 2 ^ 42 -- milliseconds between two classes
local CLASSES_PER_DIGIT = 4 -- classes of bases with the same number of binary digits, from class 8 on
local LAST_CLASS = 255 -- the highest class

-- The lowest and the highest base of a class.
local function bases_of(class) --> (lowest, highest)
  if class < 2 * CLASSES_PER_DIGIT then return class, class end
  local width = 2 ^ (math.floor(class / CLASSES_PER_DIGIT) - 1)
  local lowest = (CLASSES_PER_DIGIT + class % CLASSES_PER_DIGIT) * width
  return lowest, lowest + width - 1
end
