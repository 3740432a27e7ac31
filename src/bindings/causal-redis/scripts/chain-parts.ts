/**
 * The versions of one key, newest first, in the field `v:<key>`.
 *
 * Each link begins with the length of what follows it. A version then has its stamp, its site, its
 * kind, its end, its dependencies and its value. A link of exactly the length of a vector is a gap:
 * versions are missing there, but snapshots up to this vector cannot have seen them and may read
 * past it. An empty link is a gap that no read may pass.
 */

/** Reads one version. */
export const READ_VERSIONS = `
local function getLength(chain, at)
  return struct.unpack('>I4', chain, at)
end

-- Returns the stamp, the site, the kind and the end of a version.
local function readVersion(chain, at)
  return struct.unpack('>dBBd', chain, at + 4)
end

-- A version belongs to a snapshot if none of its dependencies is above it.
local function isVisible(chain, at, snapshot)
  local dependencies = { struct.unpack(VECTOR, chain, at + DEPENDENCIES) }
  for site = 1, SITES do
    if dependencies[site] > snapshot[site] then return false end
  end
  return true
end
`;

/** CAUSAL-4 and CAUSAL-7: finds the newest version in a snapshot. */
export const FIND_VISIBLE = `
local function mayPass(chain, at, snapshot)
  local passableUpTo = { struct.unpack(VECTOR, chain, at + 4) }
  for site = 1, SITES do
    if snapshot[site] > passableUpTo[site] then return false end
  end
  return true
end

-- Returns the place of the version and its length, NONE, or TOO_OLD.
local function findVisible(chain, snapshot)
  local at = 1
  while at <= #chain do
    local length = getLength(chain, at)
    if length > VECTOR_BYTES then
      if isVisible(chain, at, snapshot) then return at, length end
    elseif length == 0 or not mayPass(chain, at, snapshot) then
      return TOO_OLD
    end
    at = at + 4 + length
  end
  return NONE
end
`;

/** Inserts a version. */
export const INSERT_VERSION = `
-- A version that is there already changes nothing. Nor does one that is older
-- than a closed gap, since no read can come to it.
local function insertVersion(chain, version)
  local stamp, site = readVersion(version, 1)
  local at = 1
  while at <= #chain do
    local length = getLength(chain, at)
    if length == 0 then return chain end
    if length > VECTOR_BYTES then
      local other, otherSite = readVersion(chain, at)
      if other == stamp and otherSite == site then return chain end
      if other < stamp or (other == stamp and otherSite < site) then
        return string.sub(chain, 1, at - 1) .. version .. string.sub(chain, at)
      end
    end
    at = at + 4 + length
  end
  return chain .. version
end
`;

/** CAUSAL-6: drops versions that no new snapshot needs. */
export const TRIM_CHAIN = `
-- Drops what is older than the newest stable version among the old ones.
local function trimChain(chain, stable)
  local keepFrom = now - KEEP_VERSIONS_FOR
  local at, count, bytes = 1, 0, 0
  while at <= #chain do
    local length = getLength(chain, at)
    local next = at + 4 + length
    if length > VECTOR_BYTES then
      count = count + 1
      bytes = bytes + next - at - DEPENDENCIES - VECTOR_BYTES
      local isFull = count >= MAX_VERSIONS or bytes >= MAX_VERSION_BYTES
      local mayEndHere = isFull or readVersion(chain, at) < keepFrom
      if mayEndHere and isVisible(chain, at, stable) then
        local isComplete = next > #chain or getLength(chain, next) == 0
        if isComplete then return chain end
        return string.sub(chain, 1, next - 1) .. CLOSED_GAP
      end
    end
    at = next
  end
  return chain
end
`;

/** CAUSAL-14: adds the versions of another site's chain. */
export const MERGE_CHAIN = `
-- Returns where the version with this stamp and site ends, if it is there.
local function findEnd(chain, stamp, site)
  local at = 1
  while at <= #chain do
    local length = getLength(chain, at)
    if length > VECTOR_BYTES then
      local other, otherSite = readVersion(chain, at)
      if other == stamp and otherSite == site then return at + 4 + length end
    end
    at = at + 4 + length
  end
end

local function packGap(passableUpTo)
  if not passableUpTo then return CLOSED_GAP end
  return struct.pack('>I4', VECTOR_BYTES)
    .. struct.pack(VECTOR, unpack(passableUpTo, 1, SITES))
end

-- Two gaps at one place let pass only what both let pass.
local function narrow(chain, at, passableUpTo)
  if getLength(chain, at) == 0 or not passableUpTo then return nil end
  local narrower = { struct.unpack(VECTOR, chain, at + 4) }
  for site = 1, SITES do
    narrower[site] = math.min(narrower[site], passableUpTo[site])
  end
  return narrower
end

local function addGap(chain, stamp, site, passableUpTo)
  local at = findEnd(chain, stamp, site)
  if not at then return chain end
  local newer, older = string.sub(chain, 1, at - 1), string.sub(chain, at)
  if at > #chain or getLength(chain, at) > VECTOR_BYTES then
    return newer .. packGap(passableUpTo) .. older
  end
  local behind = string.sub(chain, at + 4 + getLength(chain, at))
  return newer .. packGap(narrow(chain, at, passableUpTo)) .. behind
end

-- If the source ends at a gap, so does the knowledge of what lies between its
-- oldest version and the older ones here.
local function mergeChain(chain, source, passableUpTo)
  local at, stamp, site = 1, nil, nil
  while at <= #source do
    local length = getLength(source, at)
    if length <= VECTOR_BYTES then
      if not stamp then return chain end
      return addGap(chain, stamp, site, passableUpTo)
    end
    chain = insertVersion(chain, string.sub(source, at, at + 3 + length))
    stamp, site = readVersion(source, at)
    at = at + 4 + length
  end
  return chain
end
`;
