import { lazy, type ComponentType } from "react";
import { lazyFile, markdownRenderer } from "./files";

/**
 * All pages but the front page, by their paths: patterns of wouter, the first of which that matches decides. The pages
 * are in one file, which is loaded when one of them is needed.
 */
export const PAGES = [
  ["/top/:period", page(() => import("./pages/TopPage"))],
  ["/good", page(() => import("./pages/GoodPage"))],
  ["/groups", page(() => import("./pages/GroupsPage"))],
  ["/followed", page(() => import("./pages/FollowedGroupsPage"))],
  ["/group/:name", page(() => import("./pages/GroupPage"))],
  ["/user/:username/:part?", withTexts(() => import("./pages/UserPage"))],
  ["/home", page(() => import("./pages/HomePage"))],
  ["/feed", page(() => import("./pages/FeedPage"))],
  ["/inbox", withTexts(() => import("./pages/InboxPage"))],
  ["/comments", withTexts(() => import("./pages/CommentsPage"))],
  ["/saved", withTexts(() => import("./pages/SavedPage"))],
  ["/hidden", page(() => import("./pages/HiddenPage"))],
  ["/blocked", page(() => import("./pages/BlockedPage"))],
  ["/held", withTexts(() => import("./pages/HeldPage"))],
  ["/log", page(() => import("./pages/LogPage"))],
  ["/moderation/roles", page(() => import("./pages/RolesPage"))],
  ["/search", page(() => import("./pages/SearchPage"))],
  ["/log-in", page(() => import("./pages/LogInPage"))],
  ["/register", page(() => import("./pages/RegisterPage"))],
  ["/reset", page(() => import("./pages/ResetPage"))],
  ["/forgot", page(() => import("./pages/ForgotPage"))],
  ["/confirm", page(() => import("./pages/ConfirmPage"))],
  ["/settings", page(() => import("./pages/SettingsPage"))],
  ["/article/:number", withTexts(() => import("./pages/ArticlePage"))],
  ["/article/:article/comment/:number", withTexts(() => import("./pages/CommentPage"))],
  ["/article/:number/edit", page(() => import("./pages/EditPage"))],
  ["/moderation", page(() => import("./pages/QueuePage"))],
  ["/moderation/:id", withTexts(() => import("./pages/SubjectPage"))],
  ["/post", page(() => import("./pages/PostPage"))],
] as const;

/** The component of a page, which is loaded when it is first shown. */
function page<Module extends { default: ComponentType }>(load: () => Promise<Module>) {
  return lazy(lazyFile(load).load);
}

/** A page with texts of users: what renders them is loaded beside it. */
function withTexts<Module extends { default: ComponentType }>(load: () => Promise<Module>) {
  return page(() => {
    void markdownRenderer.load();
    return load();
  });
}
