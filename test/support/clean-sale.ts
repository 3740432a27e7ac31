/** The result of the check of a sale without errors. */
export const CLEAN_SALE = {
  revoked: 0,
  contradicted: 0,
  promisedBeyondStock: 0,
  leftHanging: 0,
  oversold: 0,
  duplicates: 0,
  unknown: 0,
  lost: 0,
  unanswered: 0,
};
