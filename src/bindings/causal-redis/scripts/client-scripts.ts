/** Scripts that clients of a gateway wait for: put, read and snapshot. */

/**
 * Arguments: numbers, the field of the chain, the field of the write id, the value. The numbers are
 * the time of the site, the last own stamp that was seen, the kind, the time to live, the
 * dependencies, and the stable snapshot.
 */
export const PUT = `
local siteTime, lastSeen, kind, ttl = struct.unpack('>dddd', ARGV[1])
local dependencies = { struct.unpack(VECTOR, ARGV[1], 33) }
local stable = { struct.unpack(VECTOR, ARGV[1], 33 + VECTOR_BYTES) }
local field, idField, value = ARGV[2], ARGV[3], ARGV[4]

if isClockOff(siteTime) then return REFUSE_CLOCK end

local found = redis.call('HMGET', KEYS[1], 's', field, idField)

-- CAUSAL-17: a repeated write gets its first stamp.
if found[3] then return found[3] .. struct.pack('>d', 0) end

-- CAUSAL-13
local state = unpackState(found[1])
local hasLostWrites = state[LAST_OWN_STAMP] < lastSeen or isSuspect(state)
if hasLostWrites then return REFUSE_REWOUND end

-- CAUSAL-1: the stamp is above all that the session has seen.
local stamp = math.max(now, state[CLOCK] + 1)
for site = 1, SITES do stamp = math.max(stamp, dependencies[site] + 1) end

-- CAUSAL-2: the stamp is above the version that the write overwrites.
local previous = found[2] or ''
stable[SITE] = math.huge
local overwritten = findVisible(previous, stable)
if overwritten > NONE then
  stamp = math.max(stamp, readVersion(previous, overwritten) + 1)
end
if isTooFarAhead(stamp) then return REFUSE_CLOCK end

local expiresAt = 0
if ttl ~= 0 then expiresAt = stamp + ttl end
dependencies[SITE] = stamp
local length = DEPENDENCIES - 4 + VECTOR_BYTES + #value
local version = struct.pack('>I4dBBd', length, stamp, SITE - 1, kind, expiresAt)
  .. struct.pack(VECTOR, unpack(dependencies, 1, SITES)) .. value

state[CLOCK] = stamp
state[LAST_OWN_STAMP] = stamp
stable[SITE] = stamp
local chain = trimChain(insertVersion(previous, version), stable)

-- CAUSAL-9: the entry of the write is appended in the same step.
state[LAST_ENTRY] = state[LAST_ENTRY] + 1
state[LAST_ENTRY_STAMP] = stamp
state[ENTRY_BYTES_SUM] = state[ENTRY_BYTES_SUM] + ENTRY_BYTES + #value
local entry = struct.pack(ENTRY_HEAD, stamp, 1, #idField, #field)
  .. idField .. field .. version

local packedStamp = struct.pack('>d', stamp)
local writes = {
  field, chain,
  idField, packedStamp,
  getEntryField(state[LAST_ENTRY]), entry,
}
local deletions = {}
noteRemovable(state, writes, field, previous, chain)
local dropped = pruneEntries(state, writes, deletions)

-- The first write is refused if the memory is full, so nothing comes before it.
redis.call('HSET', KEYS[1], 's', packState(state), unpack(writes))
if #deletions > 0 then redis.call('HDEL', KEYS[1], unpack(deletions)) end
return packedStamp .. struct.pack('>d', dropped)
`;

/**
 * Arguments: numbers, then the fields of the chains. The numbers are the time of the site, the last
 * own stamp that was seen, whether versions may be missing, and the snapshot.
 */
export const READ = `
local siteTime, lastSeen, acceptsMissing = struct.unpack('>ddd', ARGV[1])
local snapshot = { struct.unpack(VECTOR, ARGV[1], 25) }

if isClockOff(siteTime) then return REFUSE_CLOCK end
if isTooFarAhead(snapshot[SITE]) then return REFUSE_CLOCK end

local found = redis.call('HMGET', KEYS[1], 's', unpack(ARGV, 2))
-- The first numbers are all that a read needs.
local bytes = found[1] or string.rep(struct.pack('>d', 0), STATE_SIZE)
local clock, lastOwn, suspicions, healed = struct.unpack('>dddd', bytes)

-- CAUSAL-13
if lastOwn < lastSeen or suspicions > healed then return REFUSE_REWOUND end
if acceptsMissing == 0 then
  local received = { struct.unpack(VECTOR, bytes, 33) }
  for site = 1, SITES do
    if site ~= SITE and snapshot[site] > received[site] then
      return REFUSE_BEHIND
    end
  end
end

-- CAUSAL-4: no later write gets a stamp inside the snapshot.
if snapshot[SITE] > clock then
  clock = snapshot[SITE]
  local raised = struct.pack('>d', clock) .. string.sub(bytes, 9)
  redis.call('HSET', KEYS[1], 's', raised)
end

local reply = { struct.pack('>d', clock) }
for place = 2, #found do
  local chain = found[place]
  local version = ''
  if chain then
    local at, length = findVisible(chain, snapshot)
    if at == TOO_OLD then return REFUSE_TOO_OLD end
    if at > NONE then version = string.sub(chain, at, at + 3 + length) end
  end
  reply[place] = version
end
return reply
`;

/** Argument: the lowest stamp that the clock must have. */
export const SNAPSHOT = `
local atLeast = struct.unpack('>d', ARGV[1])
if isTooFarAhead(atLeast) then return REFUSE_CLOCK end

local bytes = redis.call('HGET', KEYS[1], 's')
local state = unpackState(bytes)
if atLeast > state[CLOCK] then
  state[CLOCK] = atLeast
  redis.call('HSET', KEYS[1], 's', packState(state))
end
-- The physical clock is not stored: if it is wrong, it must be right again once
-- it is set.
return struct.pack('>d', math.max(state[CLOCK], now))
`;
