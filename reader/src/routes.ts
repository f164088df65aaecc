import { lazy } from "react";

/** Each page but the first is a file of its own. Patterns are those of wouter; the first that matches is shown. */
export const PAGES = [
  ["/top/:period", lazy(() => import("./pages/TopPage"))],
  ["/good", lazy(() => import("./pages/GoodPage"))],
  ["/groups", lazy(() => import("./pages/GroupsPage"))],
  ["/group/:name", lazy(() => import("./pages/GroupPage"))],
  ["/user/:username/:part?", lazy(() => import("./pages/UserPage"))],
  ["/feed", lazy(() => import("./pages/FeedPage"))],
  ["/inbox", lazy(() => import("./pages/InboxPage"))],
  ["/search", lazy(() => import("./pages/SearchPage"))],
  ["/log-in", lazy(() => import("./pages/LogInPage"))],
  ["/register", lazy(() => import("./pages/RegisterPage"))],
  ["/settings", lazy(() => import("./pages/SettingsPage"))],
  ["/article/:number", lazy(() => import("./pages/ArticlePage"))],
  ["/article/:article/comment/:number", lazy(() => import("./pages/CommentPage"))],
  ["/article/:number/edit", lazy(() => import("./pages/EditPage"))],
  ["/post", lazy(() => import("./pages/PostPage"))],
] as const;
