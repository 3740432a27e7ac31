/**
 * CAUSAL-9: the log of own writes, in fields `o:<n>`. An entry has its stamp, whether it has a
 * write, the lengths of two field names, these names (of the write id and of the chain), and the
 * version as it is in a chain.
 */

export const USE_ENTRIES = `
local function getEntryField(number)
  return string.format('o:%.0f', number)
end
`;

/** CAUSAL-14: restarts the log, so that no other site can continue from its cursor. */
export const RESTART_ENTRIES = `
-- Drops all entries. Their fields go later, a few with each put.
-- Returns the field and the bytes of the mark that stands behind them.
local function restartEntries(state, stamp)
  -- One number stays free: a cursor at the last entry must not be one before
  -- the mark.
  state[DROPPED_ENTRIES] = state[LAST_ENTRY] + 1
  state[LAST_ENTRY] = state[LAST_ENTRY] + 2
  state[LAST_ENTRY_STAMP] = stamp
  state[ENTRY_BYTES_SUM] = ENTRY_BYTES
  return getEntryField(state[LAST_ENTRY]), struct.pack(ENTRY_HEAD, stamp, 0, 0, 0)
end
`;

/** CAUSAL-16 and CAUSAL-17: drops old entries, and entries above the limits. */
export const PRUNE_ENTRIES = `
local function isAboveLimits(state)
  return state[LAST_ENTRY] - state[DROPPED_ENTRIES] > MAX_OWN_ENTRIES
    or state[ENTRY_BYTES_SUM] > MAX_OWN_ENTRY_BYTES
end

-- Returns how many entries were dropped although a site may need them.
local function pruneEntries(state, writes, deletions)
  local isDue = state[LAST_ENTRY] % PRUNE_EVERY == 0
  if not isDue and not isAboveLimits(state) then return 0 end

  -- These functions are made here, since most puts need none of them.

  -- Entries with a higher number may be needed by another site.
  local function getAcknowledged(state)
    local acknowledged = state[LAST_ENTRY]
    for site = 1, SITES do
      if site ~= SITE then
        acknowledged = math.min(acknowledged, state[ACKNOWLEDGED + site])
      end
    end
    return acknowledged
  end

  local function readEntries(entries, first, last)
    local fields = {}
    for number = first, last do
      if not entries[number] then fields[#fields + 1] = getEntryField(number) end
    end
    if #fields == 0 then return end
    local found = redis.call('HMGET', KEYS[1], unpack(fields))
    local place = 0
    for number = first, last do
      if not entries[number] then
        place = place + 1
        entries[number] = found[place]
      end
    end
  end

  -- By the rule of the limit: a fixed part, and the value.
  local function getEntryBytes(entry)
    local _, hasWrite, idLength, keyLength = struct.unpack(ENTRY_HEAD, entry)
    if hasWrite == 0 then return ENTRY_BYTES end
    local head = ENTRY_HEAD_BYTES + idLength + keyLength
    return ENTRY_BYTES + #entry - head - DEPENDENCIES - VECTOR_BYTES
  end

  local function dropFirstEntry(state, entries)
    local number = state[DROPPED_ENTRIES] + 1
    state[DROPPED_ENTRIES] = number
    state[ENTRY_BYTES_SUM] = state[ENTRY_BYTES_SUM] - getEntryBytes(entries[number])
  end

  -- The entry at a cursor stays, since the next pull names it.
  local function dropOldEntries(state, entries, acknowledged, keepFrom)
    local first = state[DROPPED_ENTRIES] + 1
    local last = math.min(acknowledged - 1, first + MAX_PRUNED - 1)
    readEntries(entries, first, last)
    for number = first, last do
      if struct.unpack('>d', entries[number]) >= keepFrom then return end
      dropFirstEntry(state, entries)
    end
  end

  local function dropOldIds(state, entries, keepFrom, deletions)
    local first = state[DROPPED_IDS] + 1
    -- The last entry is the write of this call.
    local last = math.min(state[LAST_ENTRY] - 1, first + MAX_PRUNED - 1)
    readEntries(entries, first, last)
    for number = first, last do
      local entry = entries[number]
      if entry then
        local stamp, _, idLength = struct.unpack(ENTRY_HEAD, entry)
        if idLength > 0 then
          if stamp >= keepFrom then return end
          local from = ENTRY_HEAD_BYTES + 1
          deletions[#deletions + 1] = string.sub(entry, from, from + idLength - 1)
        end
      end
      state[DROPPED_IDS] = number
    end
  end

  -- Deletes fields that are needed neither as entries nor for their ids.
  local function deleteEntries(state, deletions)
    local first = state[DELETED_ENTRIES] + 1
    local unneeded = math.min(state[DROPPED_ENTRIES], state[DROPPED_IDS])
    local last = math.min(unneeded, first + 2 * MAX_PRUNED - 1)
    for number = first, last do
      deletions[#deletions + 1] = getEntryField(number)
      state[DELETED_ENTRIES] = number
    end
  end

  -- An entry that had to go leaves its id.
  local function addStub(writes, number, entry)
    local stamp, hasWrite, idLength = struct.unpack(ENTRY_HEAD, entry)
    if hasWrite == 0 then return end
    local from = ENTRY_HEAD_BYTES + 1
    local id = string.sub(entry, from, from + idLength - 1)
    writes[#writes + 1] = getEntryField(number)
    writes[#writes + 1] = struct.pack(ENTRY_HEAD, stamp, 0, idLength, 0) .. id
  end

  -- Returns how many entries were dropped although a site may need them.
  local function dropAboveLimits(state, entries, acknowledged, writes)
    if not isAboveLimits(state) then return 0 end
    local first = state[DROPPED_ENTRIES] + 1
    local last = math.min(state[LAST_ENTRY] - 1, first + MAX_DROPPED - 1)
    readEntries(entries, first, last)
    local dropped = 0
    for number = first, last do
      if not isAboveLimits(state) then return dropped end
      if number >= acknowledged then dropped = dropped + 1 end
      dropFirstEntry(state, entries)
      if number > state[DROPPED_IDS] then addStub(writes, number, entries[number]) end
    end
    return dropped
  end

  local acknowledged = getAcknowledged(state)
  local entries = {}
  if isDue then
    local keepFrom = now - KEEP_IDS_FOR
    dropOldEntries(state, entries, acknowledged, keepFrom)
    dropOldIds(state, entries, keepFrom, deletions)
    deleteEntries(state, deletions)
  end
  return dropAboveLimits(state, entries, acknowledged, writes)
end
`;
