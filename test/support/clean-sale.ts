/** What the judge finds in a sale in which nothing went wrong. */
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
