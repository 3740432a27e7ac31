/**
 * Reads files that people write. Some editors and shells begin a file with a mark of its encoding.
 */
import { readFileSync, statSync } from 'node:fs';

/** Reads a text in UTF-8, or in UTF-16 if its mark says so. The text begins after the mark. */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  return new TextDecoder(detectEncoding(bytes)).decode(bytes);
}

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/**
 * Returns a text that changes whenever the file is written or replaced, or its permissions change.
 * Throws if the file cannot be found.
 */
export function getFileVersion(path: string): string {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
