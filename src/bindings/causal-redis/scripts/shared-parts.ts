/** Parts of several scripts: the clock, the state of a partition, and CAUSAL-8. */

/**
 * Reads `TIME` once: on Redis 7.0 it advances within a script, and on Valkey it does not. A test
 * puts a clock of its own in the place of these lines.
 */
export const READ_CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
`;

/** CAUSAL-8: refuses calls while the clock is wrong, and stamps that are too far ahead of it. */
export const CHECK_CLOCK = `
-- A request that has waited on its way carries an older time.
local function isClockOff(siteTime)
  return siteTime - now > MAX_CLOCK_SKEW or now - siteTime > MAX_CLOCK_LEAD
end

local function isTooFarAhead(stamp)
  return stamp > now + MAX_CLOCK_SKEW
end
`;

export const USE_STATE = `
-- A partition without a hash is new, or has lost everything.
local function unpackState(bytes)
  if bytes then return { struct.unpack(STATE, bytes) } end
  local state = {}
  for place = 1, STATE_SIZE do state[place] = 0 end
  return state
end

local function packState(state)
  return struct.pack(STATE, unpack(state, 1, STATE_SIZE))
end
`;

/** CAUSAL-13: the partition refuses clients until each suspicion is healed. */
export const USE_SUSPICIONS = `
local function isSuspect(state)
  return state[SUSPICIONS] > state[HEALED_SUSPICIONS]
end

local function noteSuspicion(state)
  if not isSuspect(state) then state[SUSPICIONS] = state[SUSPICIONS] + 1 end
end
`;

/** CAUSAL-11: reads and moves the cursor in the log of another site. */
export const USE_CURSORS = `
local function isCursorAt(state, source, entry, stamp)
  return state[CURSOR_ENTRIES + source] == entry
    and state[CURSOR_STAMPS + source] == stamp
end

local function setCursor(state, source, entry, stamp)
  state[CURSOR_ENTRIES + source] = entry
  state[CURSOR_STAMPS + source] = stamp
end
`;
