/**
 * Loaded before a server: makes its clock differ, and its disk full, as the file in
 * CHAOS_CONDITIONS specifies. `Date` alone differs: `performance.now()` and timers run as ever, as
 * when an operator sets the clock of a machine.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const READ_EVERY_MS = 100;
const file = process.env.CHAOS_CONDITIONS;
let conditions = { clockAheadMs: 0, isDiskFull: false };

const RealDate = Date;
const realRead = fs.readFileSync;

function readConditions() {
  try {
    conditions = JSON.parse(realRead(file, 'utf8'));
  } catch {
    // It is being written.
  }
}

if (file !== undefined) {
  readConditions();
  setInterval(readConditions, READ_EVERY_MS).unref();
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(RealDate.now() + conditions.clockAheadMs);
      else super(...args);
    }

    static now() {
      return RealDate.now() + conditions.clockAheadMs;
    }
  };
  fillDisk();
}

/** Where the disk is full, what is there can be written over, and nothing can be added. */
function fillDisk() {
  const { O_CREAT } = fs.constants;
  const creates = (flags) =>
    typeof flags === 'number' ? (flags & O_CREAT) !== 0 : /^[wa]/.test(String(flags));
  const refuse = (path, flags) => {
    if (!conditions.isDiskFull || !creates(flags) || !/\.(log|new)$/.test(String(path))) return;
    throw Object.assign(new Error(`ENOSPC: no space left on device, open '${path}'`), {
      code: 'ENOSPC',
      errno: -28,
    });
  };
  const { openSync, writeFileSync } = fs;
  const { open } = fs.promises;
  fs.openSync = (path, flags, ...more) => {
    refuse(path, flags ?? 'r');
    return openSync(path, flags, ...more);
  };
  fs.promises.open = async (path, flags, ...more) => {
    refuse(path, flags ?? 'r');
    return open(path, flags, ...more);
  };
  fs.writeFileSync = (path, ...more) => {
    if (typeof path === 'string') refuse(path, 'w');
    return writeFileSync(path, ...more);
  };
  const { statfs } = fs.promises;
  // A checkpoint asks for room before it writes.
  fs.promises.statfs = async (path, ...more) => {
    const found = await statfs(path, ...more);
    return conditions.isDiskFull ? { ...found, bavail: 0 } : found;
  };
  syncBuiltinESMExports();
}
