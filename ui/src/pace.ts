// The pace slider is logarithmic: 1 to 10,000 a second over 0 to 400; a higher pace is typed. Pure.

const PACE_MAX = 10_000; // per second
export const SLIDER_MAX = 400;

export const paceOf = (place: number) => Math.max(1, Math.round(10 ** (place / 100)));
export const sliderOf = (pace: number) => Math.round(100 * Math.log10(Math.max(1, Math.min(pace || 1, PACE_MAX))));
