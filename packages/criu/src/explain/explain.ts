export interface Explanation {
  cause: string;
}
