/** Defaults of the options of a deployment. */
export const DEFAULT_ATTEMPTS = 10;
export const DEFAULT_IN_FLIGHT = 100_000;
export const DEFAULT_BACKLOG = 1_000_000;
export const DEFAULT_SITE_TIMEOUT_MS = 5000;
export const DEFAULT_CLOCK_SKEW_MS = 10_000;

/** No option changes these. */
export const TICK_INTERVAL_MS = 250;
export const RESEND_AFTER_MS = 1000;
