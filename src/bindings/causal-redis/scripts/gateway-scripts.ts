/** Scripts of the background work of a gateway: state, pull and apply. */

/**
 * Argument: numbers. They are the time of the site, the last own stamp that was seen, the clock of
 * the site, and the stable snapshot.
 */
export const STATE = `
local siteTime, lastSeen, siteClock = struct.unpack('>ddd', ARGV[1])
local stable = { struct.unpack(VECTOR, ARGV[1], 25) }

local bytes = redis.call('HGET', KEYS[1], 's')
local state = unpackState(bytes)
if not isTooFarAhead(siteClock) then
  state[CLOCK] = math.max(state[CLOCK], siteClock)
end

-- CAUSAL-10: promises go as far as the gateway knew that nothing is missing. The poll
-- may have waited here while another server took over.
if state[LAST_OWN_STAMP] < lastSeen then
  noteSuspicion(state)
elseif not isSuspect(state) and not isClockOff(siteTime) then
  local knownUntil = math.min(math.max(state[CLOCK], now), siteTime)
  state[CONFIRMED_UNTIL] = math.max(state[CONFIRMED_UNTIL], knownUntil)
end

stable[SITE] = state[CLOCK]
local writes, deletions = {}, {}
dropRemovable(state, stable, writes, deletions)

local packed = packState(state)
if packed ~= bytes then
  redis.call('HSET', KEYS[1], 's', packed, unpack(writes))
end
if #deletions > 0 then redis.call('HDEL', KEYS[1], unpack(deletions)) end
return struct.pack('>d', now) .. packed
`;

/**
 * Argument: numbers. They are the time of the site, the requester, its cursor (entry and stamp),
 * the promise that it has, and the highest number of entries.
 */
export const PULL = `
local siteTime, requester, cursorEntry, cursorStamp, promiseHeld, maxEntries =
  struct.unpack('>dddddd', ARGV[1])

if isClockOff(siteTime) then return REFUSE_CLOCK end
local state = unpackState(redis.call('HGET', KEYS[1], 's'))

-- Returns whether the entry of the cursor is there, and whether it is lost.
local function findCursor()
  local first = state[DROPPED_ENTRIES] + 1
  if cursorEntry > state[LAST_ENTRY] then return false, true end
  if cursorEntry == 0 then return first == 1, false end
  if cursorEntry < first then return false, false end
  local entry = redis.call('HGET', KEYS[1], getEntryField(cursorEntry))
  if not entry then return false, false end
  local isSame = struct.unpack('>d', entry) == cursorStamp
  return isSame, not isSame
end

local isThere, isLost = findCursor()
if not isThere then
  -- CAUSAL-13: the other site has what this one has lost, so the gateway here must
  -- learn of it.
  if isLost and not isSuspect(state) then
    noteSuspicion(state)
    redis.call('HSET', KEYS[1], 's', packState(state))
  end
  return REFUSE_LOST
end
if isTooFarAhead(promiseHeld) then return REFUSE_CLOCK end

-- CAUSAL-10: a promise outlives the memory of the partition that made it.
state[CLOCK] = math.max(state[CLOCK], now, promiseHeld)
local acknowledged = state[ACKNOWLEDGED + requester]
state[ACKNOWLEDGED + requester] = math.max(acknowledged, cursorEntry)

local last = math.min(state[LAST_ENTRY], cursorEntry + maxEntries)
local fields = {}
for number = cursorEntry + 1, last do
  fields[#fields + 1] = getEntryField(number)
end
local entries = {}
if #fields > 0 then entries = redis.call('HMGET', KEYS[1], unpack(fields)) end

-- CAUSAL-10: the promise covers no entry that stays behind.
local promise = state[CLOCK]
if #entries > 0 then
  cursorEntry = last
  cursorStamp = struct.unpack('>d', entries[#entries])
  if last < state[LAST_ENTRY] then promise = cursorStamp end
end
promise = math.min(promise, state[CONFIRMED_UNTIL])

redis.call('HSET', KEYS[1], 's', packState(state))
local reply = { struct.pack('>ddd', cursorEntry, cursorStamp, promise) }
for place, entry in ipairs(entries) do reply[place + 1] = entry end
return reply
`;

/**
 * Arguments: numbers, then entries. The numbers are the source, the expected cursor, the new
 * cursor, the promise, and the stable snapshot.
 */
export const APPLY = `
local source, expectedEntry, expectedStamp, entry, stamp, promise =
  struct.unpack('>dddddd', ARGV[1])
local stable = { struct.unpack(VECTOR, ARGV[1], 49) }

local state = unpackState(redis.call('HGET', KEYS[1], 's'))
if not isCursorAt(state, source, expectedEntry, expectedStamp) then
  return REFUSE_STALE
end
if isTooFarAhead(promise) then return REFUSE_CLOCK end

-- Several entries may write the same key.
local fields, versions, places, chains = {}, {}, {}, {}
for number = 2, #ARGV do
  local bytes = ARGV[number]
  local _, hasWrite, idLength, keyLength = struct.unpack(ENTRY_HEAD, bytes)
  if hasWrite == 1 then
    local from = ENTRY_HEAD_BYTES + idLength + 1
    local field = string.sub(bytes, from, from + keyLength - 1)
    fields[#fields + 1] = field
    versions[#versions + 1] = string.sub(bytes, from + keyLength)
  end
end
local found = {}
if #fields > 0 then found = redis.call('HMGET', KEYS[1], unpack(fields)) end

stable[SITE] = state[CLOCK]
local received = state[RECEIVED + source]
local belowPromise = 0
local writes = {}
for number, field in ipairs(fields) do
  local version = versions[number]
  local previous = chains[field] or found[number] or ''
  local chain = trimChain(insertVersion(previous, version), stable)
  if readVersion(version, 1) <= received then belowPromise = belowPromise + 1 end
  noteRemovable(state, writes, field, previous, chain)

  if not places[field] then
    places[field] = #writes + 2
    writes[#writes + 1] = field
    writes[#writes + 1] = chain
  end
  writes[places[field]] = chain
  chains[field] = chain
end

setCursor(state, source, entry, stamp)
state[RECEIVED + source] = math.max(received, promise)
redis.call('HSET', KEYS[1], 's', packState(state), unpack(writes))
return struct.pack('>d', belowPromise)
`;
