/** Scripts of a resync and of a heal (CAUSAL-13, CAUSAL-14). */

export const LAST_ENTRY = `
local state = unpackState(redis.call('HGET', KEYS[1], 's'))
return struct.pack('>dd', state[LAST_ENTRY], state[LAST_ENTRY_STAMP])
`;

/**
 * Arguments: the cursor of HSCAN, and how many fields it looks at. HSCAN returns each key at least
 * once that exists during the whole scan.
 */
export const SCAN = `
return redis.call('HSCAN', KEYS[1], ARGV[1], 'MATCH', 'v:*', 'COUNT', ARGV[2])
`;

/** Arguments: whether state was lost, then fields and chains alternately. */
export const MERGE = `
local hasLostState = struct.unpack('>d', ARGV[1]) == 1
local fields = {}
for number = 2, #ARGV, 2 do fields[#fields + 1] = ARGV[number] end
local found = redis.call('HMGET', KEYS[1], 's', unpack(fields))
local state = unpackState(found[1])

-- Snapshots up to what was received here cannot see what the other site has
-- dropped.
local passableUpTo = nil
if not hasLostState then
  passableUpTo = {}
  for site = 1, SITES do passableUpTo[site] = state[RECEIVED + site] end
  passableUpTo[SITE] = math.huge
end

local function findHighestOwn(chain)
  local highest, at = 0, 1
  while at <= #chain do
    local length = getLength(chain, at)
    if length > VECTOR_BYTES then
      local stamp, site = readVersion(chain, at)
      if site == SITE - 1 then highest = math.max(highest, stamp) end
    end
    at = at + 4 + length
  end
  return highest
end

local highestOwn = 0
local writes, merged = {}, {}
for number, field in ipairs(fields) do
  local source = ARGV[2 * number + 1]
  local previous = merged[field] or found[number + 1] or ''
  local chain = mergeChain(previous, source, passableUpTo)
  highestOwn = math.max(highestOwn, findHighestOwn(source))
  noteRemovable(state, writes, field, previous, chain)
  merged[field] = chain
  writes[#writes + 1] = field
  writes[#writes + 1] = chain
end

if highestOwn > state[LAST_OWN_STAMP] then
  state[RECOVERED_OWN_STAMP] = math.max(state[RECOVERED_OWN_STAMP], highestOwn)
  noteSuspicion(state)
end
redis.call('HSET', KEYS[1], 's', packState(state), unpack(writes))
return struct.pack('>d', 0)
`;

/** Argument: numbers. They are the source, the expected cursor, the new one. */
export const SEEK = `
local source, expectedEntry, expectedStamp, entry, stamp =
  struct.unpack('>ddddd', ARGV[1])
local state = unpackState(redis.call('HGET', KEYS[1], 's'))
if not isCursorAt(state, source, expectedEntry, expectedStamp) then
  return REFUSE_STALE
end
setCursor(state, source, entry, stamp)
redis.call('HSET', KEYS[1], 's', packState(state))
return struct.pack('>d', 0)
`;

export const SUSPECT = `
local state = unpackState(redis.call('HGET', KEYS[1], 's'))
noteSuspicion(state)
redis.call('HSET', KEYS[1], 's', packState(state))
return struct.pack('>d', state[SUSPICIONS])
`;

/**
 * Argument: numbers. They are the number of suspicions that are healed, and the clock of the site.
 */
export const CONFIRM_HEALED = `
local suspicions, siteClock = struct.unpack('>dd', ARGV[1])
local state = unpackState(redis.call('HGET', KEYS[1], 's'))
-- It has lost state again since the heal began, and with it what was copied.
if state[SUSPICIONS] < suspicions then return REFUSE_REWOUND end
state[HEALED_SUSPICIONS] = math.max(state[HEALED_SUSPICIONS], suspicions)
if not isTooFarAhead(siteClock) then
  state[CLOCK] = math.max(state[CLOCK], siteClock)
end

local recovered = state[RECOVERED_OWN_STAMP]
local writes = {}
if recovered > state[LAST_OWN_STAMP] then
  -- These writes are in no own entry any more. Other sites that lack them must
  -- copy them too.
  state[LAST_OWN_STAMP] = recovered
  state[CLOCK] = math.max(state[CLOCK], recovered)
  writes[1], writes[2] = restartEntries(state, recovered)
end
redis.call('HSET', KEYS[1], 's', packState(state), unpack(writes))
return struct.pack('>dd', state[CLOCK], state[LAST_OWN_STAMP])
`;
