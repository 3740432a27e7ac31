/**
 * CAUSAL-18: keys whose newest version is a tombstone or expires, in fields `r:<n>`. An item has
 * the time when it is due, and the field of the chain.
 */

export const NOTE_REMOVABLE = `
local function getItemField(number)
  return string.format('r:%.0f', number)
end

-- Returns when the key may be dropped, if its newest version allows that.
local function getDueTime(chain)
  if #chain == 0 then return nil end
  local stamp, _, kind, expiresAt = readVersion(chain, 1)
  if kind ~= TOMBSTONE and expiresAt == 0 then return nil end
  return math.max(stamp, expiresAt) + KEEP_TOMBSTONES_FOR
end

local function isNewestSame(chain, other)
  if #chain == 0 or #other == 0 then return false end
  local stamp, site = readVersion(chain, 1)
  local otherStamp, otherSite = readVersion(other, 1)
  return stamp == otherStamp and site == otherSite
end

local function addItem(state, writes, field, dueAt)
  state[LAST_ITEM] = state[LAST_ITEM] + 1
  writes[#writes + 1] = getItemField(state[LAST_ITEM])
  writes[#writes + 1] = struct.pack('>d', dueAt) .. field
end

local function noteRemovable(state, writes, field, previous, chain)
  local dueAt = getDueTime(chain)
  if not dueAt or isNewestSame(previous, chain) then return end
  addItem(state, writes, field, dueAt)
end
`;

export const DROP_REMOVABLE = `
-- A clock that was set back must not stop the checks.
local function isCheckDue(state)
  local elapsed = now - state[CHECKED_AT]
  return elapsed < 0 or elapsed >= REMOVAL_INTERVAL
end

-- No older write of another site can arrive any more.
local function isReceivedFromAll(state, stamp)
  for site = 1, SITES do
    if site ~= SITE and stamp > state[RECEIVED + site] then return false end
  end
  return true
end

local function isAlone(chain)
  local at = 5 + getLength(chain, 1)
  while at <= #chain do
    local length = getLength(chain, at)
    if length > VECTOR_BYTES then return false end
    at = at + 4 + length
  end
  return true
end

-- Takes the oldest items. Returns the fields of their chains and their times.
local function takeItems(state, deletions)
  local last = math.min(state[LAST_ITEM], state[REMOVED_ITEMS] + MAX_TAKEN_ITEMS)
  local fields, dueTimes = {}, {}
  for number = state[REMOVED_ITEMS] + 1, last do
    deletions[#deletions + 1] = getItemField(number)
  end
  if #deletions == 0 then return fields, dueTimes end

  state[REMOVED_ITEMS] = last
  for place, item in ipairs(redis.call('HMGET', KEYS[1], unpack(deletions))) do
    fields[place] = string.sub(item, 9)
    dueTimes[place] = struct.unpack('>d', item)
  end
  return fields, dueTimes
end

local function mayDrop(state, chain, dueAt, stable)
  if dueAt > now then return false end
  local stamp = readVersion(chain, 1)
  return isAlone(trimChain(chain, stable)) and isReceivedFromAll(state, stamp)
end

local function dropRemovable(state, stable, writes, deletions)
  if not isCheckDue(state) then return end
  local fields, dueTimes = takeItems(state, deletions)
  local hasDropped = false
  local dropped = {}
  local chains = {}
  if #fields > 0 then chains = redis.call('HMGET', KEYS[1], unpack(fields)) end
  for place, field in ipairs(fields) do
    local chain, dueAt = chains[place] or '', dueTimes[place]
    -- A key that was written again since has another time.
    if not dropped[field] and getDueTime(chain) == dueAt then
      if mayDrop(state, chain, dueAt, stable) then
        hasDropped = true
        dropped[field] = true
        deletions[#deletions + 1] = field
      else
        addItem(state, writes, field, dueAt)
      end
    end
  end
  if not hasDropped then state[CHECKED_AT] = now end
end
`;
