/** `incoming`: a large frame follows. Until all of it has come nothing else can, which is no sign that nobody is there. */
import { defineRow } from './define-row.ts';
import { count } from './elements.ts';

/** Frames from this size on are announced, in bytes. */
export const ANNOUNCED_BYTES_MIN = 1 << 16;

/** The kind `incoming`, from the server: how large the next frame is. */
export const incoming = /* @__PURE__ */ defineRow('incoming', [['bytes', count]]);
