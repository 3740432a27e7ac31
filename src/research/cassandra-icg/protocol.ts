/** The numbers of the CQL native protocol, version 4, that reads need. */

/** The version in requests. Responses also have the top bit set. */
export const VERSION = 4;
export const RESPONSE_BIT = 0x80;
/** Version, flags, stream (2), opcode, length of the body (4). */
export const HEADER_BYTES = 9;

export const OPCODE = {
  error: 0x00,
  startup: 0x01,
  ready: 0x02,
  authenticate: 0x03,
  options: 0x05,
  supported: 0x06,
  query: 0x07,
  result: 0x08,
  prepare: 0x09,
  execute: 0x0a,
  authChallenge: 0x0e,
  authResponse: 0x0f,
  authSuccess: 0x10,
} as const;

export const FRAME_FLAG = {
  compression: 0x01,
  tracing: 0x02,
  payload: 0x04,
  warning: 0x08,
} as const;

export const RESULT_KIND = {
  void: 1,
  rows: 2,
  setKeyspace: 3,
  prepared: 4,
} as const;

export const ROWS_FLAG = {
  globalTable: 0x01,
  morePages: 0x02,
  noMetadata: 0x04,
  metadataChanged: 0x08,
} as const;

export const QUERY_FLAG = {
  values: 0x01,
  pageSize: 0x04,
  pagingState: 0x08,
} as const;

/** The lengths of a null value, and of a value that stays unchanged. */
export const NULL_LENGTH = -1;
export const UNSET_LENGTH = -2;
