"""Links, mesh, discovery: over loopback and sans-IO."""
