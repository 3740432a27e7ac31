/** A random id for a client. `crypto.randomUUID` is missing on pages served over plain HTTP; this is not. */

/** 128 random bits as 32 hexadecimal digits. */
export function randomClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
